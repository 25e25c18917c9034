import type { Random } from '../faults/random.ts';
import type { Api, freshWorkspace } from '../kits/http/harness.ts';
import { runClients } from './clients.ts';
import type { Fault } from './faults.ts';
import type { Operation } from './history.ts';

const CLIENTS = 8;
/** Between two faults at most, and after the last one. */
const BETWEEN = 60;

interface DrillOptions {
  /** A fresh workspace. */
  readonly place: Awaited<ReturnType<typeof freshWorkspace>>;
  readonly planes: readonly { readonly api: Api }[];
  readonly random: Random;
  /** One after the other, while clients are at work. */
  readonly faults: readonly Fault[];
}

/**
 * Clients of a workspace, each of whose requests goes to a control plane picked at random, while something fails.
 *
 * @returns all that they asked and were answered
 */
export async function runDrill({ place, planes, random, faults }: DrillOptions): Promise<Operation[]> {
  const asked = new Map<unknown, Api>(planes.map((plane) => [plane, plane.api]));
  const pick = random.fork();
  let [isOver, ended] = [false, 0];
  let next = awaited();
  const progress = async (operations: number) => {
    const wanted = ended + operations;
    while (ended < wanted) await next.promise;
  };
  const clients = runClients({
    send: (method, route, body) =>
      pick.pick([...asked.values()])(method, `/api/v1${route}`, { ...place, ...(body !== undefined && { body }) }),
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
      for (const fault of faults) {
        await progress(random.below(BETWEEN));
        await fault({ random, place, asked, progress });
      }
      await progress(BETWEEN);
    } finally {
      isOver = true;
    }
  })();
  const [history] = await Promise.all([clients, faulty]);
  return history;
}

/** What clients were told, by how often. */
export function outcomesOf(
  history: readonly Operation[],
): Readonly<Record<'read' | 'done' | 'refused' | 'nothing' | 'unknown', number>> {
  const counts = { read: 0, done: 0, refused: 0, nothing: 0, unknown: 0 };
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
