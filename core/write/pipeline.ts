import { keepDepartures } from '../assertions/departed-peers.ts';
import { writesIn } from '../authority/writes.ts';
import { principalOf } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { type Op, type Store, StoreError } from '../base/ports.ts';
import { type IsDiskFull, requireEventRoom, reserveRoom } from '../base/reserve.ts';
import { attemptBudget } from '../base/serialize.ts';
import { joinWorkflow, judge, requireApproval } from './approval.ts';
import { beginInTime, checkStanding, concerns, hasMoved, holdStanding, signRecords } from './credentials.ts';
import type { CallerDraft, CallWriter, Draft, Stage, WriteServices, WritingCall } from './draft.ts';
import { commitOf, type WriteResult } from './outcome.ts';
import { limitWeight } from './weight.ts';

/** Stages of a caller's write, in their order. A write of an agent has its turn before. */
export const CALLER_STAGES: readonly Stage[] = [
  beginInTime, // The commit fails once the call is too late.
  checkStanding, // Nothing is judged for a caller who has ended, as far as this control plane has heard.
  readRecords,
  signRecords, // Records say which agent or API token made them, within what the token may grant.
  judge, // Authority and quota of an agent, decisions, controls of frameworks: says whose approval is needed.
  requireApproval, // Without it the write ends here; with it, the write does what its approvers were shown.
  joinWorkflow, // The workflow that was approved says in the same commit that it is executed.
  holdStanding, // After all that took time the caller still may, by what every control plane has acknowledged.
];

/** Stages of a trial: those that judge a write, and none that ties it to a commit. */
export const TRIAL_STAGES: readonly Stage[] = [holdStanding, readRecords, signRecords, judge, requireApproval];

type StoreServices = Pick<WriteServices, 'store' | 'states' | 'clock'> & {
  readonly isDiskFull?: IsDiskFull | undefined;
};

/** Stages of every write, after those of its caller. Jobs of the control plane have these alone. */
export const STORE_STAGES: readonly ((draft: Draft, services: StoreServices) => Draft | Promise<Draft>)[] = [
  askAuthor, // Its author may still make it, such as for people who may no longer ask for it.
  limitWeight, // No network becomes heavier than the engine can compute.
  keepDepartures, // Assertions keep the peers that they name and that go.
  reserveRoom, // The last of the disk is for writes that take access away.
];

/**
 * Returns the stages that a caller's write passes. A caller without a credential, as at a log-in, has no standing. What
 * enrolments write, and what a device writes of itself all the time, decides nothing.
 */
export function stagesOf({ kind }: Pick<WritingCall['caller'], 'kind'>, ops: readonly Op[]): readonly Stage[] {
  if (kind === 'anonymous') return [beginInTime];
  if (kind === 'enrolment' || (kind === 'device' && !ops.some(writesPeer))) return [beginInTime, holdStanding];
  return CALLER_STAGES;
}

/** Returns the store of the control plane, which jobs write to, over the one that keeps the records. */
export function planeStore(services: StoreServices): Store {
  const { store, isDiskFull } = services;
  return {
    ...store,
    async commit(workspace, ops, context) {
      let draft: Draft = { workspace, ops, context };
      for (const stage of STORE_STAGES) draft = await stage(draft, services);
      return store.commit(workspace, draft.ops, draft.context);
    },
    async record(workspace, events) {
      requireEventRoom(isDiskFull);
      return store.record(workspace, events);
    },
  };
}

/** Makes the store of one call. */
export type StoreFor = (writer: CallWriter) => Store;

/**
 * Returns services whose store writes as one caller may. The services of a call make those of another caller, such as the
 * requester of what the call approves, over the store of the control plane too: no store of a caller lies under another one.
 */
export function servicesFor<S extends WriteServices & { readonly storeFor?: StoreFor | undefined }>(
  services: S,
  writer: CallWriter,
): S {
  const storeFor = services.storeFor ?? ((other) => callerStore(services, other));
  return { ...services, store: storeFor(writer), storeFor };
}

/** Maximum pending writes of an agent with its sub-agents, or of a device. Many devices enrol with one token at once. */
const MAY_WAIT = 128;

function callerStore({ store, states, clock, computed }: WriteServices, writer: CallWriter): Store {
  const progress = { hasWritten: false, hasEnded: false, hasShown: false };
  const call: WritingCall = { ...writer, store, states, clock, computed, progress };
  const { caller } = writer;
  const mayWait = caller.kind === 'agent' || caller.kind === 'device' ? MAY_WAIT : Number.POSITIVE_INFINITY;
  const queue = caller.kind === 'anonymous' ? store.queue : store.queue.for({ id: principalOf(caller), mayWait });
  return {
    ...store,
    queue,
    commit: async (workspace, ops, context) =>
      commitOf(await write(call, queue, { workspace, ops, context, writes: [] })),
    async trial(workspace, ops, requestId) {
      const context = { actor: caller.subject, reason: '', requestId };
      const end = await pass(TRIAL_STAGES, { workspace, ops, context, writes: [] }, { ...call, approved: undefined });
      return 'status' in end && end.status === 'needsApproval' ? end.need.reasons : [];
    },
  };
}

async function write(call: WritingCall, queue: Store['queue'], draft: CallerDraft): Promise<WriteResult> {
  const inTurn = () => attempts(call, draft);
  try {
    return await (call.caller.kind === 'agent' ? queue.inTurn(draft.workspace, inTurn) : inTurn());
  } catch (error) {
    if (error instanceof MeshError || error instanceof StoreError) return { status: 'refused', error };
    throw error;
  }
}

/** Passes all stages again where the read set has changed. A batch with a read set of its own is made anew by its author. */
async function attempts(call: WritingCall, draft: CallerDraft): Promise<WriteResult> {
  const mayJudge = attemptBudget(call.clock);
  for (;;) {
    try {
      return await attempt(call, draft);
    } catch (error) {
      const isChanged = error instanceof StoreError && error.code === 'changed';
      if (!isChanged || draft.context.readSet || !mayJudge()) throw error;
    }
  }
}

/** Passes a write through stages, until one of them ends it. */
async function pass(
  stages: readonly Stage[],
  begun: CallerDraft,
  call: WritingCall,
): Promise<CallerDraft | WriteResult> {
  let draft = begun;
  for (const stage of stages) {
    const next = await stage(draft, call);
    if ('status' in next) return next;
    draft = next;
  }
  return draft;
}

async function attempt(call: WritingCall, begun: CallerDraft): Promise<WriteResult> {
  const draft = await pass(stagesOf(call.caller, begun.ops), begun, call);
  if ('status' in draft) return draft;
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

/** The decision of another call does not show whether an approved call was carried out. */
async function readRecords(draft: CallerDraft, { store, approved }: WritingCall): Promise<CallerDraft> {
  const writes = await writesIn(store, draft.workspace, draft.ops);
  return { ...draft, writes, ...(draft.context.decided !== 'earlier' && { approved }) };
}

async function askAuthor({ context: { requireAtCommit, ...context }, ...draft }: Draft): Promise<Draft> {
  await requireAtCommit?.();
  return { ...draft, context };
}

function writesPeer(op: Op): boolean {
  return (op.op === 'create' || op.op === 'update') && op.record.kind === 'MeshPeer';
}
