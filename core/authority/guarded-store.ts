import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { Commit, CommitContext, Op, Store } from '../base/ports.ts';
import type { RecordDraft } from '../base/record.ts';
import { sharesTurns } from '../base/turn.ts';
import { outsidePairs } from '../effect/effect.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import type { NetworkServices } from '../state/services.ts';
import { concernedWorkspaces } from './concerned-workspaces.ts';
import { decisionsIn } from './decisions.ts';
import { futureOf } from './future.ts';
import { joinsOf } from './joins.ts';
import { type Beyond, beyondAuthority, beyondDelegation, comparison } from './judge.ts';
import { NeedsPerson } from './needs-person.ts';
import { oneByOne } from './one-by-one.ts';
import { requireShare } from './shares.ts';
import { shownDigest } from './shown.ts';
import { type Write, writesIn } from './writes.ts';

/** What a person approved, with what its first commit writes besides. */
export interface Approved {
  readonly approval: NonNullable<CommitContext['approval']>;
  /** Those whose people approved it. */
  readonly workspaces: ReadonlySet<string>;
  /** What the person was shown, see `shownDigest`. */
  readonly shown: string;
  /** The new state of the workflow, to be committed together with what it allows in that partition. */
  takeOps(partition: string): readonly Op[];
}

type Reads = Pick<NetworkServices, 'store' | 'states' | 'clock'>;

/**
 * The store as one caller may write to it. Every operation gets this one, so no write of a caller passes unseen: an
 * agent's is held to its authority, and what needs a second person is stopped until one has approved it.
 *
 * Devices and enrolments write what their own operations make; jobs of the control plane have the store itself.
 */
export function guardedStore(services: Reads, caller: Caller | null, approved?: Approved): Store {
  const store = BASES.get(services.store) ?? services.store;
  if (caller === null || caller.kind === 'device' || caller.kind === 'enrolment') return store;
  return judgingStore(services, store, caller, approved);
}

function judgingStore(services: Reads, store: Store, caller: Caller, approved: Approved | undefined): Store {
  let hasShown = false;
  const guarded: Store = {
    ...store,
    commit: (workspace, ops, context) =>
      caller.kind === 'agent'
        ? oneByOne(store, caller.line?.at(-1) ?? caller.id, () => judged(workspace, ops, context))
        : judged(workspace, ops, context),
  };

  async function judged(workspace: string, ops: readonly Op[], context: CommitContext): Promise<Commit> {
    const writes = await writesIn(store, workspace, ops);
    const need = await needOf(services, caller, workspace, writes);
    // A workflow is what approval is: its execution was approved, by a person or by the settings of the workspace.
    const isWorkflow = context.approval !== undefined && (caller.kind !== 'agent' || need?.isDecision === true);
    if (need && !isWorkflow) requireApproved(need, approved);
    if (need && approved) await requireAsShown(services, workspace, writes, hasShown ? OPENS_NOTHING : approved.shown);
    hasShown ||= need !== undefined;
    const isPersons = caller.kind !== 'agent' || approved !== undefined || Boolean(context.approval?.reviewedBy);
    const signed = ops.map((op) => withAuthor(op, isPersons ? undefined : caller.id));
    return commitApproved(store, workspace, signed, context, approved);
  }
  BASES.set(guarded, store);
  sharesTurns(guarded, store);
  return guarded;
}

/** The store behind a guarded one, so that a guard for another caller is not put over it. */
const BASES = new WeakMap<Store, Store>();

/** Of a call that writes several times the first was shown; the others follow from it and open nothing. */
const OPENS_NOTHING = Symbol('opens nothing');

interface Need extends Pick<NeedsPerson, 'workspaces' | 'reasons' | 'rows' | 'writes'> {
  /** Whether it is about who decides, and not about what an agent may. */
  readonly isDecision: boolean;
}

/**
 * Why a person has to see a batch first; undefined where none has to.
 *
 * @throws MeshError `beyond_delegation` where nobody may let the caller
 */
async function needOf(
  services: Reads,
  caller: Caller,
  workspace: string,
  writes: readonly Write[],
): Promise<Need | undefined> {
  const beyond = caller.kind === 'agent' ? await beyondOf(services, caller, workspace, writes) : undefined;
  if (beyond?.delegated) throw beyondDelegation(beyond);
  if (beyond) return { workspaces: [workspace], writes, reasons: beyond.reasons, rows: beyond.rows, isDecision: false };
  const reasons = decisionsIn(writes, caller.id);
  if (reasons.length === 0) return undefined;
  const workspaces = await concernedWorkspaces(services, workspace, writes);
  return workspaces.length === 0 ? undefined : { workspaces, writes, reasons, rows: [], isDecision: true };
}

async function beyondOf(
  { store, states, clock }: Reads,
  caller: Caller,
  workspace: string,
  writes: readonly Write[],
): Promise<Beyond | undefined> {
  if (workspace === SYSTEM_WORKSPACE || !caller.workspaces.includes(workspace)) {
    throw new MeshError('forbidden', 'An agent writes in its own workspace only.');
  }
  const [state, now] = [await states.current(workspace), clock.now()];
  await requireShare({ store, clock }, state, caller, writes);
  const joins = await joinsOf({ store, clock }, workspace);
  return beyondAuthority(caller.id, { states, state, writes, now, joins });
}

/** @throws NeedsPerson where the people of one of the workspaces have not approved it */
function requireApproved(need: Need, approved: Approved | undefined): void {
  if (!approved || need.workspaces.some((id) => !approved.workspaces.has(id))) throw new NeedsPerson(need);
}

/** @throws MeshError `conflict` when it would do something else than what was shown */
async function requireAsShown(
  { store, states, clock }: Reads,
  workspace: string,
  writes: readonly Write[],
  shown: string | typeof OPENS_NOTHING,
): Promise<void> {
  const state = await states.current(workspace);
  const compared = comparison({ states, state, writes, now: clock.now() });
  const { effect } = compared;
  const future = futureOf(compared, { joins: await joinsOf({ store, clock }, workspace), isPersons: true }, states);
  const opensNothing = () => effect.openedPairs === 0 && outsidePairs(effect, 'opened') === 0 && future.digest === '';
  if (shown === OPENS_NOTHING ? opensNothing() : shownDigest(writes, compared, future) === shown) return;
  throw new MeshError(
    'conflict',
    'The network has changed since, and this would do something else than was shown: make the call again to ask anew.',
  );
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
export function withAuthor(op: Op, agent: string | undefined): Op {
  if ((op.op !== 'create' && op.op !== 'update') || op.record.kind !== 'MeshPolicy') return op;
  const { [WRITTEN_BY]: _, ...rest } = op.record.annotations;
  const annotations = agent === undefined ? rest : { ...rest, [WRITTEN_BY]: agent };
  return { ...op, record: { ...op.record, annotations } satisfies RecordDraft };
}
