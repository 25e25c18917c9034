import { readFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { PLANES } from '../../plane/leadership/plane-slot.ts';
import { SHARES, shareOf } from '../../plane/leadership/shares.ts';
import type { ClusterPlane } from './cluster.ts';
import type { Databases } from './servers/replica-set.ts';

const SHARE = 'leadership/share/';
/** Until all planes have their parts, on a machine that is busy. */
const SETTLED_MS = 30_000;
const LOOK_MS = 50;

/**
 * The plane that leads a workspace, by the lease of its share, once no share moves any more: where planes come or go a share
 * is nobody's in between, and soon another's. @throws Error where they go on to move
 */
export async function leaderOf<Plane extends Pick<ClusterPlane, 'meshd'>>(
  servers: Pick<Databases, 'db'>,
  { database, planes }: { readonly database: string; readonly planes: readonly Plane[] },
  workspace: string,
): Promise<Plane> {
  const share = `${SHARE}${String(shareOf(workspace)).padStart(2, '0')}`;
  const deadline = performance.now() + SETTLED_MS;
  for (;;) {
    try {
      const holders = await settledHolders(servers.db(database));
      const pid = holders.get(share)?.split('/').at(-2);
      const found = planes.find(({ meshd }) => pid !== undefined && groupOf(pid) === meshd.child.pid);
      if (!found) throw new Error(`no plane that runs has the lease ${share}`);
      return found;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await after(LOOK_MS);
    }
  }
}

/** Who has each lease that is not over. @throws Error while not all shares are spread over all planes that live */
async function settledHolders(database: Db): Promise<ReadonlyMap<string, string>> {
  const isHeld = { holder: { $type: 'string' }, $expr: { $gt: ['$expiresAt', { $toLong: '$$NOW' }] } } as const;
  const held = await database.collection<{ _id: string; holder: string }>('lease').find(isHeld).toArray();
  const holdersOf = (prefix: string) => held.flatMap(({ _id, holder }) => (_id.startsWith(prefix) ? [holder] : []));
  const leading = holdersOf(SHARE);
  const counts = holdersOf(PLANES).map((plane) => leading.filter((holder) => holder === plane).length);
  const isSettled = counts.reduce((a, b) => a + b, 0) === SHARES && Math.max(...counts) - Math.min(...counts) <= 1;
  if (!isSettled) throw new Error(`${SHARES} shares are not spread: planes have ${counts.join(', ')} of them`);
  return new Map(held.map(({ _id, holder }) => [_id, holder]));
}

/** How many shares they lead, as they themselves say. */
export async function ledBy(planes: readonly Pick<ClusterPlane, 'url'>[]): Promise<number> {
  const led = planes.map(async ({ url }) => {
    const { checks } = (await (await fetch(`${url}/readyz?verbose`)).json()) as {
      readonly checks: readonly { readonly name: string; readonly detail: string }[];
    };
    const detail = checks.find(({ name }) => name === 'leadership')?.detail ?? '';
    return Number(/^leads (\d+) of/i.exec(detail)?.[1] ?? 0);
  });
  return (await Promise.all(led)).reduce((a, b) => a + b, 0);
}

/** The process group of a process; undefined once it has ended. */
function groupOf(pid: string): number | undefined {
  try {
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' ')[2],
    );
  } catch {
    return undefined;
  }
}
