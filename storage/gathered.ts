/**
 * Reads by names for many who ask at once: those who wait share the next reading. One that has begun is not joined, since
 * what it answers may be from before the question.
 */
export function gathered<V>(
  read: (names: readonly string[]) => Promise<ReadonlyMap<string, V>>,
): (names: readonly string[]) => Promise<ReadonlyMap<string, V>> {
  let next: { readonly names: Set<string>; readonly answer: Promise<ReadonlyMap<string, V>> } | undefined;
  let underWay: Promise<unknown> = Promise.resolve();

  function begin() {
    const names = new Set<string>();
    const answer = underWay.then(() => {
      next = undefined;
      return read([...names]);
    });
    underWay = answer.catch(() => undefined);
    return { names, answer };
  }

  return (names) => {
    next ??= begin();
    for (const name of names) next.names.add(name);
    return next.answer;
  };
}
