import { silentLog } from '../../core/base/silent-log.ts';
import { openStore } from '../../storage/open.ts';
import { type Cluster, startCluster } from '../../test/kits/cluster.ts';
import { ADMIN_PASSWORD, type Api, freshWorkspace } from '../../test/kits/http/harness.ts';
import { type ReplicaSet, startReplicaSet } from '../../test/kits/servers/replica-set.ts';
import { seedNetwork } from '../graph/network.ts';
import { cpuSeconds } from '../node/process.ts';
import { median } from '../report.ts';

const CALLERS = 16;
const A_ROUND = 480;
const ROUNDS = 5;

/** What one request costs, ms of processor: of all control planes, of the primary, of the other members. Medians of rounds. */
export interface RequestCost {
  readonly planes: number;
  readonly what: string;
  readonly plane: number;
  readonly primary: number;
  readonly others: number;
}

/** The same requests to one and to three control planes behind a balancer, by turns, on one replica set of three. */
export async function measurePlanes(peers: number): Promise<RequestCost[]> {
  const servers = await startReplicaSet();
  const networks: Network[] = [];
  try {
    for (const planes of [1, 3]) networks.push(await networkOf(servers, planes, peers));
    const found = new Map<string, RequestCost[]>();
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const what of Object.keys(REQUESTS) as (keyof typeof REQUESTS)[]) {
        for (const network of networks) {
          const cost = await costOf(servers, network, what, round);
          // The first is for V8.
          const key = `${what} ${cost.planes}`;
          if (round > 0) found.set(key, [...(found.get(key) ?? []), cost]);
        }
      }
    }
    return [...found.values()].map((costs) => {
      const of = (key: 'plane' | 'primary' | 'others') => median(costs.map((cost) => cost[key]));
      return { ...(costs[0] as RequestCost), plane: of('plane'), primary: of('primary'), others: of('others') };
    });
  } finally {
    for (const { cluster } of networks) await cluster.stop();
    await servers.stop();
  }
}

interface Network {
  readonly cluster: Cluster;
  readonly as: { readonly token: string; readonly workspace: string };
}

async function networkOf(servers: ReplicaSet, planes: number, peers: number): Promise<Network> {
  const app = { rateLimit: 10_000_000, initAdmins: [{ username: 'admin', password: ADMIN_PASSWORD }] };
  const cluster = await startCluster({ servers, planes, config: { app } });
  const as = await freshWorkspace(cluster.api, 'bench');
  const url = servers.url(cluster.database);
  const store = await openStore(url, { clock: { now: () => Date.now() }, log: silentLog });
  await seedNetwork(store, as.workspace, peers, 0);
  await store.close();
  for (let caller = 0; caller < CALLERS; caller += 1) {
    await must(
      cluster.api('POST', '/api/v1/policies', { ...as, body: { name: `p-${caller}`, spec: specOf(caller, 0) } }),
    );
  }
  return { cluster, as };
}

/** Of one peer, as most changes are. */
function specOf(caller: number, round: number) {
  const port = 1_000 + caller * 1_000 + (round % 1_000);
  const peerSelector = { matchLabels: { name: `peer-${caller}` } };
  return {
    action: 'ALLOW',
    peerSelector,
    ingress: [{ from: [{ peerSelector: {} }], ports: [{ protocol: 'TCP', port }] }],
  };
}

type Ask = (api: Api, as: Network['as'], caller: number, turn: number) => ReturnType<Api>;
const REQUESTS = {
  'one peer': (api, as, caller) => api('GET', `/api/v1/peers/peer-${caller + 1}`, as),
  'a page of 50 peers': (api, as) => api('GET', '/api/v1/peers?limit=50', as),
  'who reaches whom': (api, as, caller, turn) =>
    api('GET', `/api/v1/connectivity/check?src=peer-${caller + 1}&dst=peer-${turn + 20}&protocol=TCP&port=443`, as),
  'a policy changes': (api, as, caller, turn) =>
    api('PUT', `/api/v1/policies/p-${caller}`, { ...as, body: { spec: specOf(caller, turn) } }),
} as const satisfies Record<string, Ask>;

async function costOf(
  servers: ReplicaSet,
  { cluster, as }: Network,
  what: keyof typeof REQUESTS,
  round: number,
): Promise<RequestCost> {
  const primary = (await servers.primary()).pid;
  const others = servers.members.map(({ pid }) => pid).filter((pid) => pid !== primary);
  const planes = cluster.planes.map(({ meshd }) => meshd.child.pid ?? 0);
  const spent = () => [planes, [primary], others].map((pids) => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0));
  const before = spent();
  const each = A_ROUND / CALLERS;
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let turn = 0; turn < each; turn += 1) {
        await must(REQUESTS[what](cluster.api, as, caller, round * each + turn));
      }
    }),
  );
  const [plane = 0, first = 0, rest = 0] = spent().map(
    (after, nth) => ((after - (before[nth] ?? 0)) * 1_000) / A_ROUND,
  );
  return { planes: planes.length, what, plane, primary: first, others: rest };
}

async function must(call: ReturnType<Api>): Promise<void> {
  const { status, text } = await call;
  if (status > 299) throw new Error(`${status}: ${text}`);
}
