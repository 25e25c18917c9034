import { judgeShown } from '../authority/judgements.ts';
import { principalOf } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import type { Basis, Op } from '../base/ports.ts';
import { keyOf } from './credentials.ts';
import {
  type Approved,
  approvalOf,
  type CallerDraft,
  type Need,
  restingOn,
  type WriteResult,
  type WritingCall,
} from './draft.ts';

/** A workflow is an approval already: people, or the settings of the workspace, approved its execution. */
export async function requireApproval(draft: CallerDraft, call: WritingCall): Promise<CallerDraft | WriteResult> {
  const { need, context } = draft;
  const approved = approvalOf(draft, call);
  const isWorkflow = context.approval !== undefined && (call.caller.kind !== 'agent' || need?.isDecision === true);
  if (need && !isWorkflow && !need.workspaces.every((id) => approved?.workspaces.has(id))) {
    return { status: 'needsApproval', need };
  }
  if (!approved) return draft;
  const covered = { ...draft, approved, context: { ...context, approval: approved.approval } };
  if (!need) return covered;
  requireControlsAsShown(need, approved);
  return restingOn(covered, await requireAsShown(covered, call, approved.shown));
}

export async function joinWorkflow(draft: CallerDraft): Promise<CallerDraft> {
  const executed = (await draft.approved?.takeOps(draft.workspace)) ?? [];
  return executed.length === 0 ? draft : { ...draft, ops: [...without(draft.ops, executed), ...executed] };
}

/**
 * Returns the ops without those on records of the executed workflow: the end of a caller cancels their pending workflows, but
 * not the one that carries out this end.
 */
function without(ops: readonly Op[], executed: readonly Op[]): readonly Op[] {
  const carriedOut = new Set(executed.map(keyOf));
  return ops.filter((op) => !carriedOut.has(keyOf(op)));
}

/** @throws MeshError `conflict` where more controls would fail than the person was told */
function requireControlsAsShown({ failsControls }: Need, approved: Approved): void {
  const more = failsControls.filter((control) => !approved.failsControls.has(control));
  if (more.length === 0) return;
  throw new MeshError(
    'conflict',
    `The network has changed since, and this would fail ${more.join(', ')} too: make the call again to ask anew.`,
  );
}

/**
 * Only the first write of a call was shown: the others follow from it and open nothing.
 *
 * @returns what that was concluded from
 * @throws MeshError `conflict` when it would do something else than what was shown
 */
async function requireAsShown(
  { workspace, writes, context }: CallerDraft,
  { computed, caller, progress }: WritingCall,
  shown: string,
): Promise<Basis> {
  const asker = { workspace, principal: principalOf(caller), requestId: context.requestId };
  const { basis, digest, opensNothing } = await computed(judgeShown, { writes }, asker);
  if (progress.hasShown ? opensNothing : digest === shown) return basis;
  throw new MeshError(
    'conflict',
    'The network has changed since, and this would do something else than was shown: make the call again to ask anew.',
  );
}
