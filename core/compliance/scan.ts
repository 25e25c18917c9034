import type { Kind, StoredRecord } from '../base/record.ts';
import type { NetworkServices } from '../state/services.ts';

const PAGE = 200;
/** Records that one call looks at: of those that a filter leaves out there may be any number. */
export const MAX_SCANNED = 2_000;

export interface ScanPage<T> {
  readonly items: readonly T[];
  /** Name of the last record that was looked at, where there may be more; then `items` may be fewer than asked for. */
  readonly next?: string;
}

/**
 * Returns the wanted items from the records of a kind, ordered by name, from the cursor on.
 *
 * @param wanted returns undefined to skip a record, and `'end'` where no further record can match
 */
export async function scanRecords<K extends Kind, T>(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  kind: K,
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
  wanted: (record: StoredRecord<K>) => T | undefined | 'end',
): Promise<ScanPage<T>> {
  const items: T[] = [];
  for (let after = cursor, count = 0; ; ) {
    const page = await store.list(workspace, kind, { limit: PAGE, ...(after !== undefined && { after }) });
    for (const record of page.items) {
      if (items.length === limit || count === MAX_SCANNED)
        return { items, ...(after !== undefined && { next: after }) };
      const found = wanted(record);
      if (found === 'end') return { items };
      if (found !== undefined) items.push(found);
      after = record.name;
      count += 1;
    }
    if (page.next === undefined || page.items.length === 0) return { items };
  }
}
