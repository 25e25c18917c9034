import { type Clock, type Store, StoreError } from './ports.ts';

/**
 * Attempts before a write that always meets another one is given up. Others write on other control planes too, and who
 * wrote last hears of it first, and is at the next one before the others.
 */
const ATTEMPTS = 100;
/** Minimum attempts for expensive writes; more while the time budget lasts. */
export const EXPENSIVE_ATTEMPTS = 3;
const EXPENSIVE_BUDGET_MS = 3_000;

/**
 * Runs writes that compete for the same places of a workspace (addresses, node slots, uses of a token) one after the
 * other in this process, and again when a write of another process came between: `work` reads afresh each time. Of a1 a2
 * a3 (writer a) and b1 (writer b), asked for in this order, the order is a1 b1 a2 a3, so nobody waits behind all that
 * another one sent.
 *
 * @param costly by which clock a write is given up sooner that is costly to judge, where others change what it is judged on
 * @throws MeshError `rate_limited` where as many as a writer may have wait
 */
export async function serialized<T>(
  { queue }: Pick<Store, 'queue'>,
  workspace: string,
  work: () => Promise<T>,
  costly?: Clock,
): Promise<T> {
  return queue.inTurn(workspace, () => retryOnConflict(() => queue.attempt(workspace, work), costly));
}

/**
 * As {@link serialized}, after one attempt beside all others where nobody has a turn: writes of which none rests on what
 * another one changed share one commit of the store. For what is cheap to judge, since an attempt may be in vain.
 */
export async function serializedOnConflict<T>(
  { queue }: Pick<Store, 'queue'>,
  workspace: string,
  work: () => Promise<T>,
): Promise<T> {
  // A write in its turn may be expensive to judge; do not invalidate its read set.
  if (queue.isBusy(workspace)) return serialized({ queue }, workspace, work);
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError) || !isConflict(error)) throw error;
    return serialized({ queue }, workspace, work);
  }
}

/**
 * As {@link serialized}, before all others that wait: for what ends those whose writes they are, and so never refused. Of
 * a writer of whom only so many may wait, as of any other write: it could keep the others waiting for ever.
 */
export async function serializedFirst<T>(
  { queue }: Pick<Store, 'queue'>,
  workspace: string,
  work: () => Promise<T>,
): Promise<T> {
  return queue.inTurn(workspace, () => retryOnConflict(() => queue.attempt(workspace, work)), true);
}

async function retryOnConflict<T>(work: () => Promise<T>, costly?: Clock): Promise<T> {
  const mayJudge = attemptBudget(costly);
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
export function attemptBudget(costly?: Clock): () => boolean {
  const begun = costly?.now();
  let made = 0;
  return () => {
    made += 1;
    const isInTime = costly === undefined || begun === undefined || costly.now() - begun < EXPENSIVE_BUDGET_MS;
    return made < EXPENSIVE_ATTEMPTS || (isInTime && made < ATTEMPTS);
  };
}

/** Returns true if another write came between; a retry with fresh reads may find a slot that is still free. */
function isConflict({ code }: StoreError): boolean {
  return (
    code === 'conflict' || code === 'changed' || code === 'unique' || code === 'already_exists' || code === 'not_found'
  );
}
