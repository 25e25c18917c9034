import { MeshError } from './errors.ts';

/** Principal whose writes take turns together. */
interface Writer {
  readonly id: string;
  /** Maximum of its writes that may wait in one workspace. */
  readonly mayWait: number;
}

/** The writes of one workspace: one runs, and the writers of those that wait take turns. */
interface Turns {
  running: string;
  /** Queue slots that come before all writers. */
  readonly first: (() => void)[];
  /** By writer, of whom the first has the next turn. None is empty. */
  readonly waiting: Map<string, (() => void)[]>;
}

/** Turns of the processes that share a store at writing to one workspace: for speed alone, what a commit checks decides. */
export interface WorkspaceTurns {
  /** True while writes of one process often rest on records that another one has changed. */
  isContended(workspace: string): boolean;
  /** Runs work in a turn where another process was met there lately, else at once. Where no turn comes it runs too. */
  run<T>(workspace: string, work: () => Promise<T>): Promise<T>;
}

/** Jobs of the control plane. */
const JOBS: Writer = { id: '', mayWait: Number.POSITIVE_INFINITY };

/** Turns of the writers of this process in each workspace of one store, which every store over it shares. */
export class WriteQueue {
  readonly #processes: WorkspaceTurns | undefined;
  readonly #turns: Map<string, Turns>;
  readonly #writer: Writer;
  /** Workspaces in which this call has its turn. */
  readonly #held = new Set<string>();

  /** @param processes absent where no other process writes to the store */
  constructor(processes?: WorkspaceTurns, turns = new Map<string, Turns>(), writer = JOBS) {
    this.#processes = processes;
    this.#turns = turns;
    this.#writer = writer;
  }

  /** Returns the same turns, as one call of a writer takes them. */
  for(writer: Writer): WriteQueue {
    return new WriteQueue(this.#processes, this.#turns, writer);
  }

  /** True while a write has its turn in a workspace, or other processes are met there. */
  isBusy(workspace: string): boolean {
    return this.#turns.has(workspace) || this.#processes?.isContended(workspace) === true;
  }

  /** Runs one attempt of a write among those of other processes. */
  attempt<T>(workspace: string, work: () => Promise<T>): Promise<T> {
    return this.#processes ? this.#processes.run(workspace, work) : work();
  }

  /**
   * Runs a write in the turn that its call has in that workspace, or in one of its own.
   *
   * @param goesFirst before all writers that wait, unless the number of its writer's waiting writes is limited
   * @throws MeshError `rate_limited` where as many wait as may
   */
  async inTurn<T>(workspace: string, work: () => Promise<T>, goesFirst = false): Promise<T> {
    const writer = this.#writer;
    if (writer !== JOBS && this.#held.has(workspace)) return work();
    const present = this.#turns.get(workspace);
    if (!present) this.#turns.set(workspace, { running: writer.id, first: [], waiting: new Map() });
    else if (goesFirst && writer.mayWait === Number.POSITIVE_INFINITY) await waitIn(present.first);
    else await turnOf(present, writer);
    this.#held.add(workspace);
    try {
      return await work();
    } finally {
      this.#held.delete(workspace);
      this.#end(workspace);
    }
  }

  #end(workspace: string): void {
    const present = this.#turns.get(workspace);
    if (!present) return;
    const { running, first, waiting } = present;
    const more = waiting.get(running);
    if (more) {
      // The writer that had a turn goes behind the others.
      waiting.delete(running);
      waiting.set(running, more);
    }
    const [next] = waiting;
    const [id, slots] = first.length > 0 || !next ? ['', first] : next;
    const begin = slots.shift();
    if (slots !== first && slots.length === 0) waiting.delete(id);
    present.running = id;
    if (begin) begin();
    else this.#turns.delete(workspace);
  }
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
