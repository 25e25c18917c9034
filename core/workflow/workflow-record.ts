import type { Caller } from '../base/caller.ts';
import type { Op } from '../base/ports.ts';
import type { RecordDraft } from '../base/record.ts';
import type { Scope } from '../base/scope.ts';
import type { NetworkChange } from '../changes/changes.ts';
import type { EffectView } from '../effect/effect-view.ts';
import type { Order } from '../intent/orders/order.ts';
import type { Check, ExpectedBy, IntentReading, PlannedBy, ReadBy } from '../intent/plan/check.ts';
import type { ShownChange } from '../intent/plan/diff-markdown.ts';
import type { Expectation, RecordExpectation } from '../intent/verify/expectation.ts';
import type { RiskLevel } from '../intent/verify/risk-table.ts';
import type { WorkflowOwner, WorkflowRecord, WorkflowStatus } from '../model/workflow-records.ts';
import type { RequesterKind } from '../model/workspaces.ts';

/** How long a workflow waits for a person. */
export const WORKFLOW_TTL_MS = 24 * 3_600_000;

/** A call of an operation that waits for a person, where it is no change of the network as plans know them. */
export interface RequestedCall {
  readonly operation: string;
  /** Workspaces whose people decide about it, each in a workflow of its own. */
  readonly approvedIn: readonly string[];
  /** Workspace that it runs in; not always that of the workflow. */
  readonly workspace: string;
  /** Absent where the input or the answer has a secret: then the caller repeats the call once it is approved. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** The input without secrets, for who approves. */
  readonly asked: Readonly<Record<string, unknown>>;
  /** Digest of the effect that approvers saw, see `shownDigest`. */
  readonly shown: string;
  /** Names of the peers in that effect, each with the id of the peer; absent in records of earlier versions. */
  readonly named?: Readonly<Record<string, string>>;
  /** HMAC-SHA256 over operation, workspace, caller and input, hex; its key stays in `credentials.json`. */
  readonly digest: string;
  readonly caller: Pick<Caller, 'kind' | 'id' | 'subject' | 'name' | 'interactive' | 'tokenId'> & {
    /** Scopes that the caller held; the execution holds no more. */
    readonly scopes: readonly Scope[];
  };
}

/** The request; never changes. Its execution writes `changes`, or runs `call`. */
export interface WorkflowSpec extends WorkflowOwner {
  /** The planner of the changes and its own words for them; absent for a call. */
  readonly plannedBy?: PlannedBy;
  readonly readBy?: ReadBy;
  readonly askedBy?: RequesterKind;
  readonly sentence?: string;
  /** The reason in the words of the requester. */
  readonly intent: string;
  readonly planId?: string;
  readonly changes: readonly NetworkChange[];
  /** Expectations that have to hold at execution, as when it was planned. */
  readonly expectations: readonly Expectation[];
  readonly records: readonly RecordExpectation[];
  readonly expectedBy?: ExpectedBy;
  readonly callerExpectations?: readonly Expectation[];
  /** The orders from which the changes were written. */
  readonly orders?: readonly Order[];
  readonly edits?: readonly NetworkChange[];
  readonly hold?: readonly Order[];
  readonly intended?: IntentReading;
  readonly notes?: readonly string[];
  /** Open questions of the plan, which the approver answers. */
  readonly questions?: readonly string[];
  readonly shown: readonly ShownChange[];
  readonly effect: EffectView;
  readonly digest: string;
  readonly diffMarkdown: string;
  /** Check of its effect at submission; absent for calls and in records of earlier versions. */
  readonly check?: Check;
  readonly expectationsHold?: boolean;
  /** `proven`, `unmet` or `unproven`, as earlier versions stored it in the place of `check`. */
  readonly verification?: string;
  readonly objections?: readonly string[];
  readonly warnings: readonly string[];
  readonly riskLevel: RiskLevel;
  readonly riskReasons: readonly string[];
  /** Controls of frameworks that fail after it and did not before; where the workspace says so, another person approves. */
  readonly failsControls?: readonly string[];
  /** It changes when a second person is needed, or what a workspace with `secondPerson` is judged by: both need one. */
  readonly changesDuty?: true;
  readonly baseRevision: number;
  readonly requestedBy: string;
  readonly requesterPeer?: string;
  /** The caller who applied the plan; often the requester. */
  readonly appliedBy: string;
  /** Accounts that answer for requester and applier; the approver has to be another one. */
  readonly persons?: readonly string[];
  /** Runs instead of `changes`. */
  readonly call?: RequestedCall;
  /** The person who was asked to approve; decides nothing. */
  readonly approvalAskedOf?: string;
  readonly autoApprove: boolean;
  /** Applied although its effect is not what was meant, by someone who may (`intents:override`). */
  readonly overridden: boolean;
  /** The first begin among the policies that it writes or deletes, ms; absent where none of them waits. */
  readonly begins?: number;
  /** Milliseconds. */
  readonly expiresAt: number;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    Workflow: { spec: WorkflowSpec; status: WorkflowStatus };
  }
}

export function workflowDraft(id: string, spec: WorkflowSpec, status: WorkflowStatus): RecordDraft<'Workflow'> {
  return { kind: 'Workflow', name: id, uid: id, labels: {}, annotations: {}, spec, status, unique: [] };
}

/** Returns the write that moves a workflow to another state, unless somebody has moved it since it was read. */
export function statusOp({ name, spec, status, revision }: WorkflowRecord, change: Partial<WorkflowStatus>): Op {
  return { op: 'update', record: workflowDraft(name, spec, { ...status, ...change }), revision };
}

/** Returns the revision that its execution made. */
export function resultRevision({ status, revision }: WorkflowRecord): number | undefined {
  return status.state === 'executed' ? revision : undefined;
}
