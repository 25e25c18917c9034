import { MeshError } from './errors.ts';
import { type Clock, type Store, StoreError } from './ports.ts';

/**
 * Attempts before a write that always meets another one is given up. Others write on other control planes too, and who
 * wrote last hears of it first, and is at the next one before the others.
 */
const ATTEMPTS = 100;
/** Minimum attempts for expensive writes; more while the time budget lasts. */
export const COSTLY_JUDGEMENTS = 3;
const COSTLY_MS = 3_000;

/** Whose writes come through a store, and how many of them may wait in one workspace. */
export interface Writer {
  readonly id: string;
  readonly mayWait: number;
}

interface Queue {
  /** By workspace. */
  readonly turns: Map<string, Turns>;
  readonly writer: Writer;
  /** Workspaces in which a write through this store has its turn. */
  readonly held: Set<string>;
}

/** The writes of one workspace: one runs, and the writers of those that wait take turns. */
interface Turns {
  running: string;
  /** Queue slots that come before all writers. */
  readonly first: (() => void)[];
  /** By writer, of whom the first has the next turn. None is empty. */
  readonly waiting: Map<string, (() => void)[]>;
}

/** Jobs of the control plane. */
const ANYONE: Writer = { id: '', mayWait: Number.POSITIVE_INFINITY };

const queues = new WeakMap<object, Queue>();

/** Serialises writes through one store with those through another: both write to the same records, for the same writer or another. */
export function shareQueue(one: object, other: object, writer?: Writer): void {
  const queue = queueOf(other);
  queues.set(one, writer ? { turns: queue.turns, writer, held: new Set() } : queue);
}

function queueOf(store: object): Queue {
  const queue = queues.get(store) ?? { turns: new Map(), writer: ANYONE, held: new Set() };
  queues.set(store, queue);
  return queue;
}

/**
 * Runs writes that compete for the same places of a workspace (addresses, node slots, uses of a token) one after the
 * other in this process, and again when a write of another process came between: `work` reads afresh each time. Of a1 a2
 * a3 (writer a) and b1 (writer b), asked for in this order, the order is a1 b1 a2 a3, so nobody waits behind all that
 * another one sent.
 *
 * @param costly by which clock a write is given up sooner that is costly to judge, where others change what it is judged on
 * @throws MeshError `rate_limited` where as many as a writer may have wait
 */
export async function serialised<T>(
  store: Pick<Store, 'commit' | 'turns'>,
  workspace: string,
  work: () => Promise<T>,
  costly?: Clock,
): Promise<T> {
  return inTurn(store, workspace, () => retryOnConflict(amongProcesses(store, workspace, work), costly));
}

/** Each attempt has a turn of its own, which one that another process has met needs. */
function amongProcesses<T>(
  { turns }: Pick<Store, 'turns'>,
  workspace: string,
  work: () => Promise<T>,
): () => Promise<T> {
  return turns ? () => turns.run(workspace, work) : work;
}

/**
 * As {@link serialised}, after one attempt beside all others where nobody has a turn: writes of which none rests on what
 * another one changed share one commit of the store. For what is cheap to judge, since an attempt may be in vain.
 */
export async function besideOthers<T>(
  store: Pick<Store, 'commit' | 'turns'>,
  workspace: string,
  work: () => Promise<T>,
): Promise<T> {
  // A write in its turn may be expensive to judge; do not invalidate its read set.
  if (queueOf(store).turns.has(workspace) || store.turns?.isContended(workspace))
    return serialised(store, workspace, work);
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError) || !isConflict(error)) throw error;
    return serialised(store, workspace, work);
  }
}

/**
 * As {@link serialised}, before all others that wait: for what ends those whose writes they are, and so never refused. Of
 * a writer of whom only so many may wait, as of any other write: it could keep the others waiting for ever.
 */
export async function serialisedFirst<T>(
  store: Pick<Store, 'commit' | 'turns'>,
  workspace: string,
  work: () => Promise<T>,
): Promise<T> {
  return inTurn(store, workspace, () => retryOnConflict(amongProcesses(store, workspace, work)), true);
}

/**
 * Runs a write in the turn that its store has in that workspace, or in one of its own.
 *
 * @throws MeshError `rate_limited` as `serialised`
 */
export async function inTurn<T>(
  store: object,
  workspace: string,
  work: () => Promise<T>,
  goesFirst = false,
): Promise<T> {
  const { turns, writer, held } = queueOf(store);
  if (writer !== ANYONE && held.has(workspace)) return work();
  const present = turns.get(workspace);
  if (present)
    await (goesFirst && writer.mayWait === Number.POSITIVE_INFINITY ? firstTurnOf(present) : turnOf(present, writer));
  else turns.set(workspace, { running: writer.id, first: [], waiting: new Map() });
  held.add(workspace);
  try {
    return await work();
  } finally {
    held.delete(workspace);
    endTurn(turns, workspace);
  }
}

function firstTurnOf({ first }: Turns): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  first.push(resolve);
  return promise;
}

function turnOf({ waiting }: Turns, { id, mayWait }: Writer): Promise<void> {
  const own = waiting.get(id) ?? [];
  if (own.length >= mayWait) {
    const message = `${mayWait} of your writes wait in this workspace: send the next one when one of them is answered.`;
    throw new MeshError('rate_limited', message);
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  own.push(resolve);
  waiting.set(id, own);
  return promise;
}

function endTurn(turns: Queue['turns'], workspace: string): void {
  const present = turns.get(workspace);
  if (!present) return;
  const { running, first, waiting } = present;
  const more = waiting.get(running);
  if (more) {
    // The writer that had a turn goes behind the others.
    waiting.delete(running);
    waiting.set(running, more);
  }
  const before = first.shift();
  if (before) {
    present.running = '';
    before();
    return;
  }
  const [next] = waiting;
  if (!next) {
    turns.delete(workspace);
    return;
  }
  const [id, own] = next;
  const begin = own.shift();
  if (own.length === 0) waiting.delete(id);
  present.running = id;
  begin?.();
}

async function retryOnConflict<T>(work: () => Promise<T>, costly?: Clock): Promise<T> {
  const mayJudge = judgements(costly);
  let met = 0;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError) || !isConflict(error)) throw error;
      if (error.code === 'changed') {
        if (!mayJudge()) throw error;
      } else if (++met >= ATTEMPTS) throw error;
    }
  }
}

/** @returns whether there may be one more, asked after each */
export function judgements(costly?: Clock): () => boolean {
  const begun = costly?.now();
  let made = 0;
  return () => {
    made += 1;
    const isInTime = costly === undefined || begun === undefined || costly.now() - begun < COSTLY_MS;
    return made < COSTLY_JUDGEMENTS || (isInTime && made < ATTEMPTS);
  };
}

/** Returns true if another write came between; a retry with fresh reads may find a slot that is still free. */
function isConflict({ code }: StoreError): boolean {
  return (
    code === 'conflict' || code === 'changed' || code === 'unique' || code === 'already_exists' || code === 'not_found'
  );
}
