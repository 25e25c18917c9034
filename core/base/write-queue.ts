import { MeshError } from './errors.ts';
import type { WriteQueue, Writer } from './ports.ts';

/** The writes of one workspace: one runs, and the writers of those that wait take turns. */
interface Turns {
  running: string;
  /** Queue slots that come before all writers. */
  readonly first: (() => void)[];
  /** By writer, of whom the first has the next turn. None is empty. */
  readonly waiting: Map<string, (() => void)[]>;
}

/** Jobs of the control plane. */
const JOBS: Writer = { id: '', mayWait: Number.POSITIVE_INFINITY };

/** Makes the queue of one store, which every store over it shares. */
export function createWriteQueue(): WriteQueue {
  return queueOf(new Map(), JOBS);
}

/** @param turns by workspace */
function queueOf(turns: Map<string, Turns>, writer: Writer): WriteQueue {
  /** Workspaces in which this call has its turn. */
  const held = new Set<string>();
  return {
    isBusy: (workspace) => turns.has(workspace),
    async inTurn(workspace, work, goesFirst = false) {
      if (writer !== JOBS && held.has(workspace)) return work();
      const present = turns.get(workspace);
      if (present)
        await (goesFirst && writer.mayWait === Number.POSITIVE_INFINITY
          ? waitIn(present.first)
          : turnOf(present, writer));
      else turns.set(workspace, { running: writer.id, first: [], waiting: new Map() });
      held.add(workspace);
      try {
        return await work();
      } finally {
        held.delete(workspace);
        endTurn(turns, workspace);
      }
    },
    for: (other) => queueOf(turns, other),
  };
}

function turnOf({ waiting }: Turns, { id, mayWait }: Writer): Promise<void> {
  const own = waiting.get(id) ?? [];
  if (own.length >= mayWait) {
    const message = `${mayWait} of your writes wait in this workspace: send the next one when one of them is answered.`;
    throw new MeshError('rate_limited', message);
  }
  waiting.set(id, own);
  return waitIn(own);
}

function waitIn(slots: (() => void)[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  slots.push(resolve);
  return promise;
}

function endTurn(turns: Map<string, Turns>, workspace: string): void {
  const present = turns.get(workspace);
  if (!present) return;
  const { running, first, waiting } = present;
  const more = waiting.get(running);
  if (more) {
    // The writer that had a turn goes behind the others.
    waiting.delete(running);
    waiting.set(running, more);
  }
  const [id, slots] = first.length > 0 ? ['', first] : ([...waiting.entries().take(1)][0] ?? ['', first]);
  const begin = slots.shift();
  if (slots !== first && slots.length === 0) waiting.delete(id);
  present.running = id;
  if (begin) begin();
  else turns.delete(workspace);
}
