import { concernedWorkspaces } from '../authority/concerned-workspaces.ts';
import { changesDuty, decisionsIn, successorsIn, weakensApproval } from '../authority/decisions.ts';
import { newJoinGrants } from '../authority/join-grants.ts';
import { type Beyond, beyondAuthority, beyondDelegation, touchesNetwork } from '../authority/judge.ts';
import { judgeControls, judgeWrites } from '../authority/judgements.ts';
import { requireShare } from '../authority/shares.ts';
import { principalOf } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { Basis } from '../base/ports.ts';
import { accountById } from '../identity/accounts.ts';
import { approvalOf, type CallerDraft, type Need, restingOn, type WritingCall } from './draft.ts';

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
  const { beyond, basis } = caller.kind === 'agent' ? await requireDelegated(draft, call) : NOT_JUDGED;
  const isPlan = context.approval !== undefined && approvalOf(draft, call) === undefined;
  // By its own name and key a device fails no control.
  const controls = isPlan || caller.kind === 'device' ? NO_CONTROLS : await controlsOf(draft, call);
  const judged = restingOn(restingOn(draft, basis), controls.basis);
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
  const concerned = decisions.length === 0 ? NOBODY : await concernedWorkspaces(call, workspace, writes);
  const workspaces = [...new Set([...concerned.workspaces, ...(failsControls.length > 0 ? [workspace] : [])])];
  if (workspaces.length === 0) return judged;
  const reasons = [...controls.reasons, ...(concerned.workspaces.length > 0 ? decisions : [])];
  const need: Need = { ...common, workspaces, reasons, rows: [], changesDuty: concerned.changesDuty, isDecision: true };
  return { ...judged, need };
}

/** Judges an agent's writes against its authority. @throws MeshError `beyond_delegation` for a delegated agent */
export async function requireDelegated(draft: CallerDraft, call: WritingCall): Promise<Judged> {
  const judged = await beyondOf(draft, call);
  if (judged.beyond?.delegated) throw beyondDelegation(judged.beyond);
  return judged;
}

interface Judged {
  readonly beyond?: Beyond | undefined;
  readonly basis?: Basis | undefined;
}

const NOT_JUDGED: Judged = {};

const NOBODY: Awaited<ReturnType<typeof concernedWorkspaces>> = { workspaces: [], changesDuty: false };

async function namesOf(call: WritingCall, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const accounts = await Promise.all(ids.map((id) => accountById(call, id)));
  return new Map(accounts.flatMap((account) => (account ? [[account.uid, account.name] as const] : [])));
}

interface Controls {
  readonly failsControls: readonly string[];
  readonly reasons: readonly string[];
  readonly basis?: Basis;
}

const NO_CONTROLS: Controls = { failsControls: [], reasons: [] };

/** The controls that a batch would have fail, where the workspace demands a second person for it. */
async function controlsOf({ workspace, writes, context }: CallerDraft, call: WritingCall): Promise<Controls> {
  const { store, computed, caller } = call;
  if (workspace === SYSTEM_WORKSPACE || !(touchesNetwork(writes) || newJoinGrants(writes).length > 0))
    return NO_CONTROLS;
  // A workspace that is being made is not in the directory yet.
  const record = await store.getById(SYSTEM_WORKSPACE, 'Workspace', workspace);
  if (!record?.spec.settings.compliance?.secondPerson) return NO_CONTROLS;
  const asker = { workspace, principal: principalOf(caller), requestId: context.requestId };
  return computed(judgeControls, { writes }, asker);
}

async function beyondOf({ workspace, writes, context }: CallerDraft, call: WritingCall): Promise<Judged> {
  const { store, states, clock, computed, caller } = call;
  if (workspace === SYSTEM_WORKSPACE || !caller.workspaces.includes(workspace)) {
    throw new MeshError('forbidden', 'An agent writes in its own workspace only.');
  }
  const [state, now] = [await states.current(workspace), clock.now()];
  await requireShare({ store, clock }, state, caller, writes);
  if (touchesNetwork(writes)) {
    const asker = { workspace, principal: principalOf(caller), requestId: context.requestId };
    return computed(judgeWrites, { agent: caller.id, writes }, asker);
  }
  return { beyond: beyondAuthority(caller.id, { states, state, writes, now }) };
}
