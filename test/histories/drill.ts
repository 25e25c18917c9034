import type { Random } from '../faults/random.ts';
import type { Cluster, ClusterPlane } from '../kits/cluster.ts';
import { freshWorkspace } from '../kits/http/harness.ts';
import type { ReplicaSet } from '../kits/servers/replica-set.ts';
import { runClients } from './clients.ts';
import { FAULTS, type FaultName } from './faults.ts';
import type { Operation } from './history.ts';

const CLIENTS = 8;
/** Between two faults at most, and after the last one. */
const BETWEEN = 60;

interface DrillOptions {
  readonly cluster: Cluster;
  readonly servers: ReplicaSet;
  readonly random: Random;
  readonly slug: string;
  /** One after the other, while clients are at work. */
  readonly faults: readonly FaultName[];
}

/**
 * Clients of a fresh workspace, each of whose requests goes to a control plane picked at random, while something fails.
 *
 * @returns all that they asked and were answered
 */
export async function runDrill({ cluster, servers, random, slug, faults }: DrillOptions) {
  const place = await freshWorkspace(cluster.api, slug);
  const asked = new Set<ClusterPlane>(cluster.planes);
  const pick = random.fork();
  let [isOver, ended] = [false, 0];
  let next = awaited();
  const progress = async (operations: number) => {
    const wanted = ended + operations;
    while (ended < wanted) await next.promise;
  };
  const clients = runClients({
    send: (method, route, body) =>
      pick.pick([...asked]).api(method, `/api/v1${route}`, { ...place, ...(body !== undefined && { body }) }),
    random: random.fork(),
    clients: CLIENTS,
    isOver: () => isOver,
    onEnd() {
      ended += 1;
      next.resolve();
      next = awaited();
    },
  });
  // Whoever waits for what they do is told why nothing comes.
  clients.catch((error: unknown) => next.reject(error));
  const faulty = (async () => {
    try {
      for (const name of faults) {
        await progress(random.below(BETWEEN));
        await FAULTS[name]({ cluster, servers, random, asked, progress });
      }
      await progress(BETWEEN);
    } finally {
      isOver = true;
    }
  })();
  const [history] = await Promise.all([clients, faulty]);
  return { workspace: place.workspace, history };
}

/** What clients were told, by how often. */
export function outcomesOf(
  history: readonly Operation[],
): Readonly<Record<'read' | 'done' | 'refused' | 'unknown', number>> {
  const counts = { read: 0, done: 0, refused: 0, unknown: 0 };
  for (const each of history) {
    if (each.op === 'read') counts.read += 1;
    else counts[typeof each.outcome === 'object' ? 'done' : each.outcome] += 1;
  }
  return counts;
}

/** One that nobody may be waiting for when it fails. */
function awaited() {
  const resolvers = Promise.withResolvers<void>();
  resolvers.promise.catch(() => undefined);
  return resolvers;
}
