const lines = new WeakMap<object, Map<string, Promise<unknown>>>();

/** Does work of one name after the other: what is counted before a write is still so when it is written. */
export async function oneByOne<T>(of: object, name: string, work: () => Promise<T>): Promise<T> {
  const line = lines.get(of) ?? new Map<string, Promise<unknown>>();
  lines.set(of, line);
  const turn = (line.get(name) ?? Promise.resolve()).then(work, work);
  line.set(name, turn);
  try {
    return await turn;
  } finally {
    if (line.get(name) === turn) line.delete(name);
  }
}
