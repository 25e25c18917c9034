import { setTimeout } from 'node:timers/promises';
import { silentLog } from '../../core/base/silent-log.ts';
import { openStore } from '../../storage/open.ts';
import { type Cluster, startCluster } from '../../test/kits/cluster.ts';
import { type Api, FIRST_ADMIN, freshWorkspace } from '../../test/kits/http/harness.ts';
import { type ReplicaSet, startReplicaSet } from '../../test/kits/servers/replica-set.ts';
import { seedNetwork } from '../graph/network.ts';
import { cpuSeconds } from '../node/process.ts';
import { median } from '../report.ts';

/** At each control plane. */
const CALLERS = 16;
const ROUNDS = 5;
/** More for V8 than for the measurement. */
const WARM_ROUNDS = 2;
const IDLE_MS = 30_000;

/** Processor time, ms: of all control planes, of the primary, of the other members. */
interface Spent {
  readonly plane: number;
  readonly primary: number;
  readonly others: number;
}

/** Of one request, without what is spent while nobody asks; medians of rounds. */
export interface RequestCost extends Spent {
  readonly planes: number;
  readonly what: string;
}

export interface Measured {
  /** In a second in which nobody asks; the database serves all control planes of the measurement. */
  readonly idle: readonly (Spent & { readonly planes: number })[];
  readonly requests: readonly RequestCost[];
}

/** As many requests to each of one and of three control planes behind a balancer, by turns, on one replica set of three. */
export async function measurePlanes(peers: number): Promise<Measured> {
  const servers = await startReplicaSet();
  const networks: Network[] = [];
  try {
    for (const planes of [1, 3]) networks.push(await networkOf(servers, planes, peers));
    const found = new Map<string, RequestCost[]>();
    let idle = await idleOf(servers, networks);
    for (let round = 0; round < WARM_ROUNDS + ROUNDS; round += 1) {
      if (round === WARM_ROUNDS) idle = await idleOf(servers, networks);
      for (const what of Object.keys(REQUESTS) as (keyof typeof REQUESTS)[]) {
        for (const [nth, network] of networks.entries()) {
          const cost = await costOf(servers, network, what, round, idle[nth] as Spent);
          const key = `${what} ${cost.planes}`;
          if (round >= WARM_ROUNDS) found.set(key, [...(found.get(key) ?? []), cost]);
        }
      }
    }
    const requests = [...found.values()].map((costs) => {
      const of = (key: keyof Spent) => median(costs.map((cost) => cost[key]));
      return { ...(costs[0] as RequestCost), plane: of('plane'), primary: of('primary'), others: of('others') };
    });
    return { idle, requests };
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
  const app = { rateLimit: 10_000_000, initAdmins: [FIRST_ADMIN] };
  const cluster = await startCluster({ servers, planes, config: { app } });
  const as = await freshWorkspace(cluster.api, 'bench');
  const url = servers.url(cluster.database);
  const store = await openStore(url, { clock: { now: () => Date.now() }, log: silentLog });
  await seedNetwork(store, as.workspace, peers, 0);
  await store.close();
  for (let caller = 0; caller < CALLERS * planes; caller += 1) {
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

interface Request {
  readonly ask: (api: Api, as: Network['as'], caller: number, turn: number) => ReturnType<Api>;
  /** Of one caller in one round. */
  readonly times: number;
}

const REQUESTS = {
  'one peer': { ask: (api, as, caller) => api('GET', `/api/v1/peers/peer-${caller + 1}`, as), times: 100 },
  'a page of 50 peers': { ask: (api, as) => api('GET', '/api/v1/peers?limit=50', as), times: 100 },
  'who reaches whom': {
    ask: (api, as, caller, turn) =>
      api('GET', `/api/v1/connectivity/check?src=peer-${caller + 1}&dst=peer-${turn + 60}&protocol=TCP&port=443`, as),
    times: 30,
  },
  'a policy changes': {
    ask: (api, as, caller, turn) =>
      api('PUT', `/api/v1/policies/p-${caller}`, { ...as, body: { spec: specOf(caller, turn) } }),
    times: 10,
  },
} as const satisfies Record<string, Request>;

async function costOf(
  servers: ReplicaSet,
  { cluster, as }: Network,
  what: keyof typeof REQUESTS,
  round: number,
  idle: Spent,
): Promise<RequestCost> {
  const { ask, times }: Request = REQUESTS[what];
  const planes = cluster.planes.length;
  const callers = CALLERS * planes;
  const began = performance.now();
  const meter = await meterOf(servers, cluster);
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (let turn = 0; turn < times; turn += 1) await must(ask(cluster.api, as, caller, round * times + turn));
    }),
  );
  const spent = meter();
  const seconds = (performance.now() - began) / 1_000;
  const of = (key: keyof Spent) => (spent[key] - idle[key] * seconds) / (callers * times);
  return { planes, what, plane: of('plane'), primary: of('primary'), others: of('others') };
}

async function idleOf(servers: ReplicaSet, networks: readonly Network[]): Promise<(Spent & { planes: number })[]> {
  const meters = await Promise.all(networks.map(({ cluster }) => meterOf(servers, cluster)));
  await setTimeout(IDLE_MS);
  return networks.map(({ cluster }, nth) => {
    const { plane, primary, others } = (meters[nth] as () => Spent)();
    const aSecond = IDLE_MS / 1_000;
    return {
      planes: cluster.planes.length,
      plane: plane / aSecond,
      primary: primary / aSecond,
      others: others / aSecond,
    };
  });
}

/** What was spent since. */
async function meterOf(servers: ReplicaSet, cluster: Cluster): Promise<() => Spent> {
  const primary = (await servers.primary()).pid;
  const pids = {
    plane: cluster.planes.map(({ meshd }) => meshd.child.pid ?? 0),
    primary: [primary],
    others: servers.members.map(({ pid }) => pid).filter((pid) => pid !== primary),
  };
  const read = (key: keyof Spent) => pids[key].reduce((sum, pid) => sum + cpuSeconds(pid), 0) * 1_000;
  const before = { plane: read('plane'), primary: read('primary'), others: read('others') };
  return () => ({
    plane: read('plane') - before.plane,
    primary: read('primary') - before.primary,
    others: read('others') - before.others,
  });
}

async function must(call: ReturnType<Api>): Promise<void> {
  const { status, text } = await call;
  if (status > 299) throw new Error(`${status}: ${text}`);
}
