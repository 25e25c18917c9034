import type { Caller } from '../caller.ts';
import { MeshError } from '../errors.ts';
import { SYSTEM_WORKSPACE } from '../ids.ts';
import { isStateKind } from '../network/state.ts';
import { sharesTurns } from '../network/turn.ts';
import type { Commit, CommitContext, Op, Store } from '../ports.ts';
import type { RecordDraft } from '../record.ts';
import type { Services } from '../services.ts';
import { concernedWorkspace } from './concerned-workspace.ts';
import { decisionsIn } from './decisions.ts';
import { beyondAuthority, beyondDelegation, comparison } from './judge.ts';
import { NeedsPerson } from './needs-person.ts';
import { openedDigest } from './opened.ts';
import { requireShare } from './shares.ts';
import { type Write, writesIn } from './writes.ts';
import { WRITTEN_BY } from './written-by.ts';

/** What a person approved, with what its first commit writes besides. */
export interface Approved {
  readonly approval: NonNullable<CommitContext['approval']>;
  /** What the person was shown that it opens, see `openedDigest`. */
  readonly opened: string;
  /** The new state of the workflow, to be committed together with what it allows in that partition. */
  takeOps(partition: string): readonly Op[];
}

type Reads = Pick<Services, 'store' | 'states' | 'clock'>;

/**
 * The store as one caller may write to it. Every operation gets this one, so no write of a caller passes unseen: an
 * agent's is held to its authority, and what needs a second person is stopped until one has approved it.
 *
 * Devices and enrolments write what their own operations make; jobs of the control plane have the store itself.
 */
export function guardedStore(services: Reads, caller: Caller | null, approved?: Approved): Store {
  const store = BASES.get(services.store) ?? services.store;
  if (caller === null || caller.kind === 'device' || caller.kind === 'enrolment') return store;
  const guarded: Store = {
    ...store,
    async commit(workspace, ops, context) {
      const writes = await writesIn(store, workspace, ops);
      if (caller.kind === 'agent') await requireAuthority(services, caller, workspace, writes, approved);
      // Its execution is the approval of a workflow by a person who is not this caller.
      const isApproved = approved !== undefined || Boolean(context.approval?.reviewedBy);
      if (!isApproved) await requireNoDecision(services, caller, workspace, writes);
      if (approved && isTouched(writes)) await requireAsShown(services, workspace, writes, approved);
      const signed = ops.map((op) => withAuthor(op, caller.kind === 'agent' && !isApproved ? caller.id : undefined));
      return commitApproved(store, workspace, signed, context, approved);
    },
  };
  BASES.set(guarded, store);
  sharesTurns(guarded, store);
  return guarded;
}

/** The store behind a guarded one, so that a guard for another caller is not put over it. */
const BASES = new WeakMap<Store, Store>();

async function requireAuthority(
  { store, states, clock }: Reads,
  caller: Caller,
  workspace: string,
  writes: readonly Write[],
  approved: Approved | undefined,
): Promise<void> {
  if (workspace === SYSTEM_WORKSPACE || !caller.workspaces.includes(workspace)) {
    throw new MeshError('forbidden', 'An agent writes in its own workspace only.');
  }
  const [state, now] = [await states.current(workspace), clock.now()];
  await requireShare({ store, clock }, state, caller, writes);
  const beyond = beyondAuthority(caller.id, { states, state, writes, now });
  if (!beyond) return;
  if (beyond.delegated) throw beyondDelegation(beyond);
  if (!approved) throw new NeedsPerson({ workspace, writes, reasons: beyond.reasons, rows: beyond.rows });
}

function isTouched(writes: readonly Write[]): boolean {
  return writes.some(({ kind }) => kind !== 'AgentIdentity' && isStateKind(kind));
}

/** @throws MeshError `plan_stale` when it would open something else than what was shown */
async function requireAsShown(
  { states, clock }: Reads,
  workspace: string,
  writes: readonly Write[],
  { opened }: Approved,
): Promise<void> {
  const { effect } = comparison({ states, state: await states.current(workspace), writes, now: clock.now() });
  if (openedDigest(effect) === opened) return;
  throw new MeshError(
    'plan_stale',
    'The network has changed since, and this would open something else than was shown.',
  );
}

async function requireNoDecision(
  services: Reads,
  caller: Caller,
  workspace: string,
  writes: readonly Write[],
): Promise<void> {
  const reasons = decisionsIn(writes, caller.id);
  if (reasons.length === 0) return;
  const concerned = await concernedWorkspace(services, workspace, writes);
  if (concerned !== undefined) throw new NeedsPerson({ workspace: concerned, writes, reasons, rows: [] });
}

function commitApproved(
  store: Store,
  workspace: string,
  ops: readonly Op[],
  context: CommitContext,
  approved: Approved | undefined,
): Promise<Commit> {
  if (!approved) return store.commit(workspace, ops, context);
  return store.commit(workspace, [...ops, ...approved.takeOps(workspace)], { ...context, approval: approved.approval });
}

/** Says of a policy which agent wrote it by itself. What a person writes or approves is a person's from then on. */
function withAuthor(op: Op, agent: string | undefined): Op {
  if ((op.op !== 'create' && op.op !== 'update') || op.record.kind !== 'MeshPolicy') return op;
  const { [WRITTEN_BY]: _, ...rest } = op.record.annotations;
  const annotations = agent === undefined ? rest : { ...rest, [WRITTEN_BY]: agent };
  return { ...op, record: { ...op.record, annotations } satisfies RecordDraft };
}
