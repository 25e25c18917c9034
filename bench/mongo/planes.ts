import path from 'node:path';
import { type Cluster, startCluster } from '../../test/kits/cluster.ts';
import { type Api, FIRST_ADMIN, freshWorkspace } from '../../test/kits/http/harness.ts';
import type { Place } from '../../test/kits/http/joining.ts';
import type { ReplicaSet } from '../../test/kits/servers/replica-set.ts';
import { cpuSeconds } from '../node/process.ts';
import { median } from '../report.ts';

const CLIENTS = [1, 5, 20] as const;
/** The policies that each client creates in a round. */
const WRITES = 8;
const WARM_UP = 1;

/** Writes of one workspace through three control planes, of one checkout; medians of rounds. */
export interface PlaneWrites {
  readonly checkout: string;
  /** True where an assertion exists, so that the read set of each write includes all policies. */
  readonly isJudged: boolean;
  readonly clients: number;
  readonly rate: number;
  /** Milliseconds until a write is answered. */
  readonly median: number;
  readonly p99: number;
  /** For each write: transactions begun, processor milliseconds of the control planes. */
  readonly transactions: number;
  readonly planes: number;
}

/** Measures clients that create policies one after the other, each at one of three control planes, by turns of checkouts. */
export async function measurePlaneWrites(
  servers: ReplicaSet,
  checkouts: readonly string[],
  rounds: number,
): Promise<PlaneWrites[]> {
  const app = { rateLimit: 10_000_000, initAdmins: [FIRST_ADMIN] };
  const clusters: [string, Cluster][] = [];
  const found = new Map<string, PlaneWrites[]>();
  try {
    for (const checkout of checkouts) {
      clusters.push([checkout, await startCluster({ servers, config: { app }, bin: path.join(checkout, 'bin') })]);
    }
    for (const isJudged of [false, true]) {
      const sides = await Promise.all(
        clusters.map(async (side) => [...side, await placeIn(side[1], isJudged)] as const),
      );
      for (let round = 0; round < rounds + WARM_UP; round += 1) {
        for (const clients of CLIENTS) {
          for (const [checkout, cluster, place] of round % 2 === 0 ? sides : sides.toReversed()) {
            const measured = { checkout, isJudged, ...(await writesOf(servers, cluster, place, clients, round)) };
            const key = `${isJudged} ${clients} ${checkout}`;
            if (round >= WARM_UP) found.set(key, [...(found.get(key) ?? []), measured]);
          }
        }
      }
    }
    return [...found.values()].map((each) => {
      const of = (key: 'rate' | 'median' | 'p99' | 'transactions' | 'planes') => median(each.map((one) => one[key]));
      const [first] = each as [PlaneWrites];
      const [transactions, planes] = [of('transactions'), of('planes')];
      return { ...first, rate: of('rate'), median: of('median'), p99: of('p99'), transactions, planes };
    });
  } finally {
    for (const [, cluster] of clusters) await cluster.stop();
  }
}

async function placeIn({ api }: Cluster, isJudged: boolean): Promise<Place> {
  const place = await freshWorkspace(api, isJudged ? 'judged' : 'free');
  if (!isJudged) return place;
  const body = { name: 'apart', src: 'role=web', dst: 'role=db', expect: 'unreachable' };
  await must(api('POST', '/api/v1/assertions', { ...place, body }));
  return place;
}

async function writesOf(
  servers: ReplicaSet,
  { planes }: Cluster,
  place: Place,
  clients: number,
  round: number,
): Promise<Omit<PlaneWrites, 'checkout' | 'isJudged'>> {
  const apis = planes.map(({ api }) => api);
  const spent = async () => ({
    transactions: (await servers.db('admin').command({ serverStatus: 1 }))['transactions'].totalStarted as number,
    planes: planes.reduce((sum, { meshd }) => sum + cpuSeconds(meshd.child.pid ?? 0), 0) * 1_000,
  });
  const [before, begun] = [await spent(), performance.now()];
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const api = apis[client % apis.length] as Api;
      for (let n = 0; n < WRITES; n += 1) {
        const asked = performance.now();
        const name = `p-${clients}-${round}-${client}-${n}`;
        const body = { name, spec: { action: 'DENY', peerSelector: { matchLabels: { role: name } } } };
        await must(api('POST', '/api/v1/policies', { ...place, body }));
        times.push(performance.now() - asked);
      }
    }),
  );
  const [seconds, after] = [(performance.now() - begun) / 1_000, await spent()];
  const inOrder = times.toSorted((a, b) => a - b);
  const at = (part: number) => inOrder[Math.floor(inOrder.length * part)] ?? 0;
  const each = (key: keyof typeof after) => (after[key] - before[key]) / times.length;
  return {
    clients,
    rate: times.length / seconds,
    median: at(0.5),
    p99: at(0.99),
    transactions: each('transactions'),
    planes: each('planes'),
  };
}

async function must(call: ReturnType<Api>): Promise<void> {
  const { status, text } = await call;
  if (status > 299) throw new Error(`${status}: ${text}`);
}
