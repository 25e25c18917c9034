import type { ShownChange } from '../intent/diff-markdown.ts';
import type { EffectView } from '../intent/effect-view.ts';
import type { Expectation, RecordExpectation } from '../intent/planner.ts';
import type { RiskLevel } from '../intent/risk.ts';
import type { NetworkChange } from '../network/changes.ts';
import type { RecordDraft, StoredRecord } from '../record.ts';

/** `pending -> approved -> executing -> executed | failed`, `pending -> rejected | expired` (DESIGN 5.5). */
export const WORKFLOW_STATES = [
  'pending',
  'approved',
  'executing',
  'executed',
  'failed',
  'rejected',
  'expired',
] as const;
export type WorkflowState = (typeof WORKFLOW_STATES)[number];

/** How long a workflow waits for a person. */
export const WORKFLOW_TTL_MS = 24 * 3_600_000;

/** What is asked for; never changes. */
export interface WorkflowSpec {
  readonly summary: string;
  /** Why, in the words of who asked. */
  readonly intent: string;
  readonly planId?: string;
  readonly changes: readonly NetworkChange[];
  /** What must hold of its effect when it is carried out, as when it was planned. */
  readonly expectations: readonly Expectation[];
  readonly records: readonly RecordExpectation[];
  readonly notes?: readonly string[];
  readonly shown: readonly ShownChange[];
  readonly effect: EffectView;
  readonly digest: string;
  readonly diffMarkdown: string;
  readonly warnings: readonly string[];
  readonly riskLevel: RiskLevel;
  readonly riskReasons: readonly string[];
  readonly baseRevision: number;
  readonly requestedBy: string;
  readonly requesterId: string;
  readonly requesterPeer?: string;
  /** Who applied the plan, where that was not who asked for it. */
  readonly appliedBy: string;
  readonly applierId: string;
  /** Who was asked to approve; decides nothing. */
  readonly approvalAskedOf?: string;
  readonly autoApprove: boolean;
  /** Applied although its effect is not what was meant, by someone who may (`intents:override`). */
  readonly overridden: boolean;
  /** Milliseconds. */
  readonly expiresAt: number;
}

/** What became of it. */
export interface WorkflowStatus {
  readonly state: WorkflowState;
  /** The authenticated person that approved or rejected. */
  readonly reviewedBy?: string;
  readonly reviewedAt?: string;
  readonly note?: string;
  readonly selfApproved?: boolean;
  readonly error?: string;
}

export type WorkflowRecord = StoredRecord<WorkflowSpec, WorkflowStatus>;

export function workflowDraft(
  id: string,
  spec: WorkflowSpec,
  status: WorkflowStatus,
): RecordDraft<WorkflowSpec, WorkflowStatus> {
  return { kind: 'Workflow', name: id, uid: id, labels: {}, annotations: {}, spec, status, unique: [] };
}

/** The revision its execution made: the one that says so. */
export function resultRevision({ status, revision }: WorkflowRecord): number | undefined {
  return status.state === 'executed' ? revision : undefined;
}
