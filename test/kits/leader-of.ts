import { readFileSync } from 'node:fs';
import { expect, vi } from 'vitest';
import { PLANES } from '../../plane/leadership/seat.ts';
import { movesOf, SHARES, shareOf } from '../../plane/leadership/shares.ts';
import type { ClusterPlane } from './cluster.ts';
import type { Databases } from './servers/replica-set.ts';

interface Lease {
  readonly _id: string;
  readonly holder: string | null;
  readonly expiresAt: number;
}

/** Until shares move no more: longer than the lease of a plane that was killed. */
const SETTLED = { timeout: 20_000 };

/** The plane that leads a workspace, once no share is on its way from one plane to another. */
export async function leaderOf<Plane extends Pick<ClusterPlane, 'meshd'>>(
  servers: Pick<Databases, 'db'>,
  { database, planes }: { readonly database: string; readonly planes: readonly Plane[] },
  workspace: string,
): Promise<Plane> {
  const leases = servers.db(database).collection<Lease>('lease');
  return vi.waitFor(async () => {
    const held = (await leases.find().toArray()).filter(({ expiresAt }) => expiresAt > Date.now());
    const holderOf = new Map(held.map(({ _id, holder }) => [_id, holder ?? undefined]));
    const living = held.flatMap(({ _id, holder }) => (_id.startsWith(PLANES) ? (holder ?? []) : []));
    const shares = Array.from({ length: SHARES }, (_, share) => holderOf.get(leaseOf(share)));
    for (const self of living) expect(movesOf(self, { planes: living, shares })).toEqual({ take: [], give: [] });
    const pid = shares[shareOf(workspace)]?.split('/').at(-2);
    const found = planes.find(({ meshd }) => pid !== undefined && groupOf(pid) === meshd.child.pid);
    if (!found) throw new Error(`no plane has the lease ${leaseOf(shareOf(workspace))}`);
    return found;
  }, SETTLED);
}

const leaseOf = (share: number) => `leadership/share/${String(share).padStart(2, '0')}`;

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
