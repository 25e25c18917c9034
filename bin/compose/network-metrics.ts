import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { PEER_PHASES } from '../../core/model/resources.ts';
import type { Services } from '../../core/workflow/services.ts';
import type { Metrics } from '../../rest/metrics.ts';

interface PeerCounts {
  readonly revision: number;
  readonly phases: ReadonlyMap<string, number>;
}

type Uses = Pick<Services, 'store' | 'states' | 'liveness' | 'clock'>;

/** Peers by state over all workspaces. A workspace is counted again only once something in it has changed. */
export function networkMetrics(metrics: Metrics, services: Uses): void {
  const { store } = services;
  const known = new Map<string, PeerCounts>();
  const workspaces = async () => (await store.workspaces()).filter((name) => name !== SYSTEM_WORKSPACE);

  metrics.gauge(
    'mesh_workspaces',
    'Workspaces, those deleted and still kept among them',
    async () => (await workspaces()).length,
  );
  metrics.gauge('mesh_peers', 'Peers by state', async () => {
    const sums = new Map<string, number>(PEER_PHASES.map((phase) => [phase, 0]));
    for (const workspace of await workspaces()) {
      const revision = await store.revision(workspace);
      const before = known.get(workspace);
      const counted = before?.revision === revision ? before : await countIn(services, workspace, revision);
      known.set(workspace, counted);
      for (const [phase, count] of counted.phases) sums.set(phase, (sums.get(phase) ?? 0) + count);
    }
    return [...sums].map(([phase, value]) => ({ labels: { phase }, value }));
  });
  metrics.gauge('mesh_peers_online', 'Peers heard of lately', () =>
    services.liveness.countOnline(services.clock.now()),
  );
}

async function countIn({ states }: Uses, workspace: string, revision: number): Promise<PeerCounts> {
  const { peers } = await states.current(workspace);
  const phases = new Map<string, number>();
  for (const { status } of peers.values()) phases.set(status.phase, (phases.get(status.phase) ?? 0) + 1);
  return { revision, phases };
}
