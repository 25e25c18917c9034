import type { NetworkChangeRecord } from '../changes.ts';
import { counted } from '../reading.ts';
import type { ChangeCheck } from './check.ts';

const APPROVE =
  'An administrator sets requireApproval, so that every change waits for a second person, and has the changes that are named here reviewed after the fact.';

/** Of the contract: no change was approved by nobody because it was put through automatically. */
export const noAutoApproval: ChangeCheck = {
  on: 'changes',
  noun: 'change record',
  isMeant: ({ workflow }) => workflow !== undefined,
  fault: ({ workflow }) => (workflow?.spec.autoApprove ? 'auto_approve' : undefined),
  aside(all) {
    const others = all.filter(({ workflowId, isAutomatic }) => workflowId === undefined && !isAutomatic).length;
    return others === 0
      ? ''
      : `${counted(others, 'change')} passed no workflow: PCI-DSS-6.5.1 and PCI-DSS-10.2 judge these.`;
  },
  remedy: 'An administrator unsets autoApprove in the settings of the workspace, so that a person approves each plan.',
};

/** Of the contract: every change of a policy says who reviewed it. */
export const policyChangesReviewed: ChangeCheck = {
  on: 'changes',
  noun: 'policy change',
  isMeant: ({ isOfPolicies, isAutomatic }) => isOfPolicies && !isAutomatic,
  fault: unreviewed,
  remedy: APPROVE,
};

/** That each change of the network was asked for, reviewed by another person, and is what was approved. */
export const changesAuthorised: ChangeCheck = {
  on: 'changes',
  noun: 'change',
  isMeant: ({ isAutomatic }) => !isAutomatic,
  fault: (change) => unreviewed(change) ?? ownApproval(change),
  remedy: APPROVE,
};

/** That who approved is not who asked. */
export const separateApprover: ChangeCheck = {
  on: 'changes',
  noun: 'reviewed change',
  isMeant: ({ reviewedBy }) => reviewedBy !== '',
  fault: ownApproval,
  remedy: 'An administrator makes a second person an approver and sets selfApproval to false.',
};

/** That each change says who made it, when, why, and of what. */
export const completeRecords: ChangeCheck = {
  on: 'changes',
  noun: 'change',
  isMeant: () => true,
  fault: ({ actor, reason, requestId }) =>
    actor === '' || reason === '' || requestId === '' ? 'lacks who, why or which request' : undefined,
  remedy: 'An administrator tells the vendor: each entry of the audit log is to name who, when, why and what.',
};

/** That named people make changes, not the account that everyone knows. */
export const namedPeople: ChangeCheck = {
  on: 'changes',
  noun: 'change',
  isMeant: ({ isAutomatic }) => !isAutomatic,
  fault: ({ actor }) => (actor === 'user:admin' ? 'made with the built-in account admin' : undefined),
  remedy: 'A platform administrator makes an account for each person (create_user), and admin is kept for emergencies.',
};

function unreviewed({ reviewedBy, isDirect }: NetworkChangeRecord): string | undefined {
  if (reviewedBy !== '') return undefined;
  return isDirect ? 'written directly, reviewed by nobody' : 'reviewed by nobody';
}

function ownApproval({ workflow, reviewedBy, actor }: NetworkChangeRecord): string | undefined {
  const isOwn =
    workflow?.status.selfApproved === true || workflow?.spec.requestedBy === reviewedBy || actor === reviewedBy;
  return isOwn && reviewedBy !== '' ? `approved by ${reviewedBy}, who asked for it` : undefined;
}
