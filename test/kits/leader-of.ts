import { readFileSync } from 'node:fs';
import { shareOf } from '../../plane/leadership/shares.ts';
import type { ClusterPlane } from './cluster.ts';
import type { Databases } from './servers/replica-set.ts';

/** The plane that leads a workspace, by the lease of its share. @throws Error while none does */
export async function leaderOf<Plane extends Pick<ClusterPlane, 'meshd'>>(
  servers: Pick<Databases, 'db'>,
  { database, planes }: { readonly database: string; readonly planes: readonly Plane[] },
  workspace: string,
): Promise<Plane> {
  const name = `leadership/share/${String(shareOf(workspace)).padStart(2, '0')}`;
  const leases = servers.db(database).collection<{ _id: string; holder: string | null }>('lease');
  const pid = (await leases.findOne({ _id: name }))?.holder?.split('/').at(-2);
  const found = planes.find(({ meshd }) => pid !== undefined && groupOf(pid) === meshd.child.pid);
  if (!found) throw new Error(`no plane has the lease ${name}`);
  return found;
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
