import { withDepartures } from '../assertions/departed.ts';
import { writesIn } from '../authority/writes.ts';
import { MeshError } from '../base/errors.ts';
import { type Op, type Store, StoreError } from '../base/ports.ts';
import { type IsDiskFull, requireRoom } from '../base/reserve.ts';
import { judgements } from '../base/serialise.ts';
import { joinWorkflow, requireApproval } from './approval.ts';
import { limitCredentials, sign } from './credentials.ts';
import type { CallerDraft, Draft, Stage, WriteResult, WriteServices, WritingCall } from './draft.ts';
import { judge } from './judgement.ts';
import { beginInTime, checkStanding, concerns, hasMoved, holdStanding } from './standing.ts';
import { limitWeight } from './weight.ts';

/**
 * Stages of a caller's write, in their order; a write of an agent has waited for its turn before. A write whose read set has
 * changed by its commit passes all of them again, and asks nothing twice otherwise.
 *
 * 1. The first commit of the call fails once the call is too late.
 * 2. Nothing is judged for a caller who has ended, as far as this control plane has heard.
 * 3. The records as they are.
 * 4. An API token makes no credential that outlives what the token may grant.
 * 5. Authority and quota of an agent, decisions about access, controls of frameworks: whose approval is needed.
 * 6. Without it the write ends as `needsApproval`; with it, it does what its approvers were shown.
 * 7. Records say which agent or API token made them.
 * 8. The workflow that approved the write says so in the same commit.
 * 9. After all that took time the caller still may, by what every control plane has acknowledged, and at the commit.
 */
export const CALLER_STAGES: readonly Stage[] = [
  beginInTime,
  checkStanding,
  readRecords,
  limitCredentials,
  judge,
  requireApproval,
  sign,
  joinWorkflow,
  holdStanding,
];

/**
 * Stages of every write, after those of its caller. Jobs of the control plane have these alone.
 *
 * 1. The people for whom it is made may still ask for it.
 * 2. No network becomes heavier than the engine can compute.
 * 3. Assertions keep the peers that go.
 * 4. The last of the disk is for writes that take access away.
 */
export const STORE_STAGES = [askRequesters, limitWeight, keepDepartures, reserveRoom] as const;

/**
 * Returns the stages that a caller's write passes. A caller without a credential, as at a log-in, has no standing. Enrolments
 * write what their own operation makes, and a device presence and tokens of its own all the time: neither decides anything.
 */
export function stagesOf({ kind }: Pick<WritingCall['caller'], 'kind'>, ops: readonly Op[]): readonly Stage[] {
  if (kind === 'anonymous') return [beginInTime];
  if (kind === 'enrolment' || (kind === 'device' && !ops.some(writesPeer))) return [beginInTime, holdStanding];
  return CALLER_STAGES;
}

/** Passes a write of a caller through its stages, and commits it to the store of the control plane. */
export async function writeAs(call: WritingCall, queue: Store['queue'], draft: Draft): Promise<WriteResult> {
  const write = () => attempts(call, { ...draft, writes: [], granted: [] });
  try {
    return await (call.caller.kind === 'agent' ? queue.inTurn(draft.workspace, write) : write());
  } catch (error) {
    if (error instanceof MeshError || error instanceof StoreError) return { status: 'refused', error };
    throw error;
  }
}

/** A batch with a read set of its own is made anew by its author. */
async function attempts(call: WritingCall, draft: CallerDraft): Promise<WriteResult> {
  const mayJudge = judgements(call.clock);
  for (;;) {
    try {
      return await attempt(call, draft);
    } catch (error) {
      const isChanged = error instanceof StoreError && error.code === 'changed';
      if (!isChanged || draft.context.basis || !mayJudge()) throw error;
    }
  }
}

async function attempt(call: WritingCall, begun: CallerDraft): Promise<WriteResult> {
  let draft = begun;
  for (const stage of stagesOf(call.caller, begun.ops)) {
    const next = await stage(draft, call);
    if ('status' in next) return next;
    draft = next;
  }
  const { store, caller, progress } = call;
  const commit = await store.commit(draft.workspace, draft.ops, draft.context).catch(async (error: unknown) => {
    throw (await hasMoved(draft, call, error)) ? new StoreError('changed', caller.name) : error;
  });
  draft.approved?.taken(draft.workspace);
  progress.hasWritten = true;
  progress.hasEnded ||= commit.changes.some((change) => concerns(change, caller));
  progress.hasShown ||= draft.need !== undefined;
  return { status: 'committed', commit };
}

export type StoreServices = Pick<WriteServices, 'store' | 'states' | 'clock'> & {
  readonly isDiskFull?: IsDiskFull | undefined;
};

/** Returns a write as it is to be committed to the store below. */
export async function passStore(services: StoreServices, begun: Draft): Promise<Draft> {
  let draft = begun;
  for (const stage of STORE_STAGES) draft = await stage(draft, services);
  return draft;
}

async function readRecords(draft: CallerDraft, { store }: WritingCall): Promise<CallerDraft> {
  return { ...draft, writes: await writesIn(store, draft.workspace, draft.ops) };
}

async function askRequesters(draft: Draft): Promise<Draft> {
  const { requireAskers, ...context } = draft.context;
  if (!requireAskers) return draft;
  await requireAskers();
  return { ...draft, context };
}

async function keepDepartures(draft: Draft, { store }: StoreServices): Promise<Draft> {
  return { ...draft, ops: await withDepartures(store, draft.workspace, draft.ops) };
}

function reserveRoom(draft: Draft, { isDiskFull }: StoreServices): Draft {
  const { fromReserve = false, ...context } = draft.context;
  if (isDiskFull && !fromReserve) requireRoom(isDiskFull, draft.ops);
  return { ...draft, context };
}

function writesPeer(op: Op): boolean {
  return (op.op === 'create' || op.op === 'update') && op.record.kind === 'MeshPeer';
}
