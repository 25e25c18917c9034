import { foldName } from '../../base/record.ts';
import { parseInstant } from '../../base/time.ts';
import type { NetworkChangeRecord } from '../changes.ts';
import { counted, listed } from '../check-result.ts';
import type { ChangeCheck } from './check.ts';

const APPROVE =
  'An administrator sets requireApproval, so that every change waits for a second person, and has the changes that are named here reviewed after the fact.';

/** Control of the contract: no change was approved automatically, and each that names a workflow was approved in it. */
export const noAutoApproval: ChangeCheck = {
  on: 'changes',
  noun: 'change record',
  isMeant: ({ workflowId }) => workflowId !== undefined,
  fault: ({ workflow, ...change }) =>
    workflow?.spec.autoApprove ? 'auto_approve' : unreviewed({ workflow, ...change }),
  aside(all) {
    const others = all.filter(({ workflowId, isAutomatic }) => workflowId === undefined && !isAutomatic).length;
    return others === 0
      ? ''
      : `${counted(others, 'change')} passed no workflow: PCI-DSS-6.5.1 and PCI-DSS-10.2 judge these.`;
  },
  remedy:
    'An administrator unsets autoApprove in the settings of the workspace, so that a person approves each plan, and shows an auditor who approved the changes that are named.',
};

/** Control of the contract: every change of a policy names its reviewer. */
export const policyChangesReviewed: ChangeCheck = {
  on: 'changes',
  noun: 'policy change',
  isMeant: ({ isOfPolicies, isAutomatic }) => isOfPolicies && !isAutomatic,
  fault: unreviewed,
  remedy: APPROVE,
};

/** Checks that each change of the network was requested, reviewed by another person, and applied as approved. */
export const changesAuthorised: ChangeCheck = {
  on: 'changes',
  noun: 'change',
  isMeant: ({ isAutomatic }) => !isAutomatic,
  fault: (change) => unreviewed(change) ?? ownApproval(change),
  remedy: APPROVE,
};

/** Checks that the approver is not the requester. */
export const separateApprover: ChangeCheck = {
  on: 'changes',
  noun: 'reviewed change',
  isMeant: ({ reviewedBy }) => reviewedBy !== '',
  fault: ownApproval,
  remedy: 'An administrator makes a second person an approver and sets selfApproval to false.',
};

/** Checks that each change records its actor, time, reason and request. */
export const completeRecords: ChangeCheck = {
  on: 'changes',
  noun: 'change',
  isMeant: () => true,
  fault: ({ actor, reason, requestId }) =>
    actor === '' || reason === '' || requestId === '' ? 'lacks who, why or which request' : undefined,
  remedy:
    'The host administrator reports the revisions that are named as a fault of Mesh: each entry of the audit log is to name who, when, why and what. Until then an auditor asks who made these changes.',
};

/** Checks that named people make changes, not the shared account `admin`. */
export const namedPeople: ChangeCheck = {
  on: 'changes',
  noun: 'change',
  isMeant: ({ isAutomatic }) => !isAutomatic,
  fault: ({ actor }) => (actor === 'user:admin' ? 'made with the built-in account admin' : undefined),
  remedy: 'A platform administrator makes an account for each person (create_user), and admin is kept for emergencies.',
};

/** Returns the fault in the review of a change. Whether the requester approved it is checked elsewhere. */
function unreviewed(change: NetworkChangeRecord): string | undefined {
  const { reviewedBy, isDirect, workflowId, workflow, at } = change;
  if (reviewedBy === '') return isDirect ? 'written directly, reviewed by nobody' : 'reviewed by nobody';
  if (workflowId === undefined) return `said to be reviewed by ${reviewedBy}, in no workflow`;
  if (!workflow) return `its workflow ${workflowId} is not on record: nothing shows that it was approved`;
  const { state, reviewedAt, reviewedBy: approver } = workflow.status;
  if (workflow.spec.autoApprove || approver === undefined) return `approved by nobody in ${workflowId}`;
  if (approver !== reviewedBy) return `said to be reviewed by ${reviewedBy}, while ${workflowId} was by ${approver}`;
  if (NOT_APPROVED.has(state)) return `its workflow ${workflowId} is ${state}`;
  if (reviewedAt === undefined || parseInstant(reviewedAt) > at) return `made before ${workflowId} was approved`;
  const others = beyondPlan(change);
  return others.length > 0 ? `changed what ${workflowId} did not plan: ${listed(others)}` : undefined;
}

const NOT_APPROVED: ReadonlySet<string> = new Set(['pending', 'rejected', 'expired']);
const DONE = { create: 'created', update: 'updated', delete: 'deleted' } as const;

/** The resources of a change that its workflow did not show to who approved it. A call tells what it does in its own words. */
function beyondPlan({ workflow, resources }: NetworkChangeRecord): string[] {
  const { shown, call } = workflow?.spec ?? {};
  if (!shown || call) return [];
  const planned = new Set(shown.map(({ action, resource, name }) => `${DONE[action]} ${resource}/${foldName(name)}`));
  return resources.filter((text) => {
    const end = text.indexOf('/') + 1;
    return !planned.has(`${text.slice(0, end)}${foldName(text.slice(end))}`);
  });
}

function ownApproval({ workflow, reviewedBy, actor }: NetworkChangeRecord): string | undefined {
  const askers = [workflow?.spec.requestedBy, workflow?.spec.appliedBy, actor];
  const isOwn = workflow?.status.selfApproved === true || askers.includes(reviewedBy);
  return isOwn && reviewedBy !== '' ? `approved by ${reviewedBy}, who asked for it` : undefined;
}
