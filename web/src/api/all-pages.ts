interface PageOf<T> {
  readonly items: readonly T[];
  readonly next_cursor?: string;
}

/** Records of one list. A list that is longer is cut, and the page says so. */
export const MOST_RECORDS = 10_000;

/** All records of a list, page after page. */
export async function allPages<T>(
  read: (cursor: string | undefined) => Promise<{ readonly data?: PageOf<T> | undefined }>,
): Promise<readonly T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const { data } = await read(cursor);
    items.push(...(data?.items ?? []));
    cursor = data?.next_cursor;
  } while (cursor !== undefined && items.length < MOST_RECORDS);
  return items;
}

/** Returns records of a list with all fields, which they have where none are chosen with `fields`. */
export function whole<T>(items: readonly T[]): readonly Required<T>[] {
  return items as readonly Required<T>[];
}
