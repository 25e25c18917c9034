import { readFileSync } from 'node:fs';
import { shareOf } from '../../plane/leadership/shares.ts';
import type { Cluster, ClusterPlane } from './cluster.ts';
import type { Databases } from './servers/replica-set.ts';

/** The plane that leads a workspace, by the lease of its share. @throws Error while none does */
export async function leaderOf(
  servers: Databases,
  { database, planes }: Pick<Cluster, 'database' | 'planes'>,
  workspace: string,
): Promise<ClusterPlane> {
  const name = `leadership/share/${String(shareOf(workspace)).padStart(2, '0')}`;
  const leases = servers.db(database).collection<{ _id: string; holder: string | null }>('lease');
  const pid = (await leases.findOne({ _id: name }))?.holder?.split('/').at(-2);
  const found = planes.find(({ meshd }) => pid !== undefined && groupOf(pid) === meshd.child.pid);
  if (!found) throw new Error(`no plane has the lease ${name}`);
  return found;
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
