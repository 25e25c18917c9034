import { type Fence, type LeaseState, StoreError } from '../../core/base/ports.ts';
import type { Database } from './database.ts';

interface Row {
  readonly holder: string | null;
  readonly fence: number;
  readonly expires_at: number;
}

export interface Lease {
  readonly fence: number;
  readonly expiresAt: number;
}

/** Takes or renews. The fence of a name is never forgotten, so that it rises over release and expiry alike. */
export function acquireLease(
  database: Database,
  name: string,
  holder: string,
  ttlMs: number,
  now: number,
): Lease | undefined {
  const held = database.statement<Row>('SELECT holder, fence, expires_at FROM lease WHERE name = ?').get(name);
  if (held && held.holder !== null && held.holder !== holder && held.expires_at > now) return undefined;
  const fence = held?.holder === holder ? held.fence : (held?.fence ?? 0) + 1;
  const expiresAt = now + ttlMs;
  database
    .statement(
      `INSERT INTO lease (name, holder, fence, expires_at) VALUES (:name, :holder, :fence, :expiresAt)
       ON CONFLICT (name) DO UPDATE SET holder = :holder, fence = :fence, expires_at = :expiresAt`,
    )
    .run({ name, holder, fence, expiresAt });
  return { fence, expiresAt };
}

export function renewLeases(database: Database, held: readonly Fence[], holder: string, expiresAt: number): boolean {
  const renew = database.statement(
    'UPDATE lease SET expires_at = :expiresAt WHERE name = :lease AND fence = :fence AND holder = :holder',
  );
  return held.map(({ lease, fence }) => renew.run({ lease, fence, holder, expiresAt }) === 1).every(Boolean);
}

export function releaseLease(database: Database, name: string, holder: string): void {
  database.statement('UPDATE lease SET holder = NULL WHERE name = ? AND holder = ?').run(name, holder);
}

export function leaseStates(database: Database, prefix: string, now: number): LeaseState[] {
  return database
    .statement<Pick<Row, 'holder' | 'expires_at'> & { readonly name: string }>(
      'SELECT name, holder, expires_at FROM lease WHERE substr(name, 1, length(:prefix)) = :prefix ORDER BY name',
    )
    .all({ prefix })
    .map(({ name, holder, expires_at }) => (holder === null || expires_at <= now ? { name } : { name, holder }));
}

/** In the transaction of what its holder writes. @throws StoreError `fenced` */
export function requireFence(database: Database, { lease, fence }: Fence): void {
  const held = database
    .statement('SELECT 1 FROM lease WHERE name = ? AND fence = ? AND holder IS NOT NULL')
    .get(lease, fence);
  if (held === undefined) throw new StoreError('fenced', lease);
}
