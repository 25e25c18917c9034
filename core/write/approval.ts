import { concernedWorkspaces, type WorkspaceReader } from '../authority/concerned-workspaces.ts';
import { changesDuty, decisionsIn, successorsIn, weakensApproval } from '../authority/decisions.ts';
import { newJoinGrants } from '../authority/join-grants.ts';
import {
  type Beyond,
  beyondAuthority,
  beyondDelegation,
  judgeControls,
  judgeShown,
  judgeWrites,
  touchesNetwork,
} from '../authority/judge.ts';
import { requireShare } from '../authority/shares.ts';
import { principalOf } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { ReadSet } from '../base/ports.ts';
import type { ComputationRequest } from '../compute/computation.ts';
import { accountById } from '../identity/accounts.ts';
import { keyOf } from './credentials.ts';
import { type Approved, type CallerDraft, restingOn, type WritingCall } from './draft.ts';
import type { Need, WriteResult } from './outcome.ts';

/**
 * Finds whose approval a write needs. A follow-up of a commit in the log needs none; an agent is held to its authority at
 * each write. A plan is judged, with its effect on controls, until its commit.
 *
 * @throws MeshError `beyond_delegation` where nobody may let the caller; `unavailable` where it could not be judged
 */
export async function judge(draft: CallerDraft, call: WritingCall): Promise<CallerDraft> {
  const { workspace, writes, context } = draft;
  const { caller } = call;
  if (context.decided !== undefined && caller.kind !== 'agent') return draft;
  const { beyond, readSet }: Judged = caller.kind === 'agent' ? await requireDelegated(draft, call) : {};
  const isPlan = context.approval !== undefined && draft.approved === undefined;
  // By its own name and key a device fails no control.
  const own = workspaceReader(workspace, call);
  const controls = isPlan || caller.kind === 'device' ? NO_CONTROLS : await controlsOf(draft, call, own);
  const judged = restingOn(restingOn(draft, readSet), controls.readSet);
  const { failsControls } = controls;
  const common = { writes, failsControls };
  if (beyond) {
    const reasons = [...beyond.reasons, ...controls.reasons];
    const isDuty = writes.some((write) => changesDuty(write) || weakensApproval(write));
    const asked = { workspaces: [workspace], reasons, rows: beyond.rows, changesDuty: isDuty, isDecision: false };
    return { ...judged, need: { ...common, ...asked } };
  }
  const successors = await namesOf(call, successorsIn(writes));
  const decisions = decisionsIn(writes, { callerId: caller.id, successors });
  const concerned = decisions.length === 0 ? NOBODY : await concernedWorkspaces(call, workspace, writes, own);
  const workspaces = [...new Set([...concerned.workspaces, ...(failsControls.length > 0 ? [workspace] : [])])];
  if (workspaces.length === 0) return judged;
  const reasons = [...controls.reasons, ...(concerned.workspaces.length > 0 ? decisions : [])];
  const need: Need = { ...common, workspaces, reasons, rows: [], changesDuty: concerned.changesDuty, isDecision: true };
  return { ...judged, need };
}

interface Judged {
  readonly beyond?: Beyond | undefined;
  readonly readSet?: ReadSet;
}

/** Judges an agent's writes against its authority. @throws MeshError `beyond_delegation` for a delegated agent */
async function requireDelegated(draft: CallerDraft, call: WritingCall): Promise<Judged> {
  const { workspace, writes } = draft;
  const { store, states, clock, computed, caller } = call;
  if (workspace === SYSTEM_WORKSPACE || !caller.workspaces.includes(workspace)) {
    throw new MeshError('forbidden', 'An agent writes in its own workspace only.');
  }
  const [state, now] = [await states.current(workspace), clock.now()];
  await requireShare({ store, clock }, state, caller, writes);
  const judged: Judged = touchesNetwork(writes)
    ? await computed(judgeWrites, { agent: caller.id, writes }, askerOf(draft, call))
    : { beyond: beyondAuthority(caller.id, { states, state, writes, now }) };
  if (judged.beyond?.delegated) throw beyondDelegation(judged.beyond);
  return judged;
}

function askerOf({ workspace, context: { requestId } }: CallerDraft, { caller }: WritingCall): ComputationRequest {
  return { workspace, principal: principalOf(caller), requestId };
}

const NOBODY: Awaited<ReturnType<typeof concernedWorkspaces>> = { workspaces: [], changesDuty: false };

async function namesOf(call: WritingCall, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const accounts = await Promise.all(ids.map((id) => accountById(call, id)));
  return new Map(accounts.flatMap((account) => (account ? [[account.uid, account.name] as const] : [])));
}

interface Controls {
  readonly failsControls: readonly string[];
  readonly reasons: readonly string[];
  readonly readSet?: ReadSet;
}

const NO_CONTROLS: Controls = { failsControls: [], reasons: [] };

/** Reads the record of the workspace when it is first asked for. */
function workspaceReader(workspace: string, { store }: WritingCall): WorkspaceReader {
  let record: ReturnType<WorkspaceReader> | undefined;
  return () => {
    record ??= store.getById(SYSTEM_WORKSPACE, 'Workspace', workspace);
    return record;
  };
}

/** The controls that a batch would have fail, where the workspace demands a second person for it. */
async function controlsOf(draft: CallerDraft, call: WritingCall, own: WorkspaceReader): Promise<Controls> {
  const { workspace, writes } = draft;
  if (workspace === SYSTEM_WORKSPACE || !(touchesNetwork(writes) || newJoinGrants(writes).length > 0))
    return NO_CONTROLS;
  // A workspace that is being made is not in the directory yet.
  const record = await own();
  if (!record?.spec.settings.compliance?.secondPerson) return NO_CONTROLS;
  return call.computed(judgeControls, { writes }, askerOf(draft, call));
}

/** A workflow is an approval already: people, or the settings of the workspace, approved its execution. */
export async function requireApproval(draft: CallerDraft, call: WritingCall): Promise<CallerDraft | WriteResult> {
  const { need, context, approved } = draft;
  const isWorkflow = context.approval !== undefined && (call.caller.kind !== 'agent' || need?.isDecision === true);
  if (need && !isWorkflow && !need.workspaces.every((id) => approved?.workspaces.has(id))) {
    return { status: 'needsApproval', need };
  }
  if (!approved) return draft;
  const covered = { ...draft, context: { ...context, approval: approved.approval } };
  if (!need) return covered;
  requireControlsAsShown(need, approved);
  return restingOn(covered, await requireAsShown(draft, call, approved));
}

/** The end of a caller cancels their pending workflows, but not the one that carries out this end. */
export async function joinWorkflow(draft: CallerDraft): Promise<CallerDraft> {
  const executed = (await draft.approved?.takeOps(draft.workspace)) ?? [];
  const workflows = new Set(executed.map(keyOf));
  return { ...draft, ops: [...draft.ops.filter((op) => !workflows.has(keyOf(op))), ...executed] };
}

/** @throws MeshError `conflict` where more controls would fail than the person was told */
function requireControlsAsShown({ failsControls }: Need, approved: Approved): void {
  const more = failsControls.filter((control) => !approved.failsControls.has(control));
  if (more.length > 0) throw changedSince(`fail ${more.join(', ')} too`);
}

/**
 * Only the first write of a call was shown: the others follow from it and open nothing.
 *
 * @returns what that was concluded from
 * @throws MeshError `conflict` when it would do something else than what was shown
 */
async function requireAsShown(draft: CallerDraft, call: WritingCall, { shown }: Approved): Promise<ReadSet> {
  const { writes } = draft;
  const { readSet, digest, opensNothing } = await call.computed(judgeShown, { writes }, askerOf(draft, call));
  if (call.progress.hasShown ? opensNothing : digest === shown) return readSet;
  throw changedSince('do something else than was shown');
}

function changedSince(would: string): MeshError {
  const message = `The network has changed since, and this would ${would}: make the call again to ask anew.`;
  return new MeshError('conflict', message);
}
