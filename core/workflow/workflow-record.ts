import type { Caller } from '../base/caller.ts';
import type { RecordDraft } from '../base/record.ts';
import type { Scope } from '../base/scope.ts';
import type { NetworkChange } from '../changes/changes.ts';
import type { EffectView } from '../effect/effect-view.ts';
import type { Check, ExpectedBy, PlannedBy, ReadBy } from '../intent/plan/check.ts';
import type { ShownChange } from '../intent/plan/diff-markdown.ts';
import type { Expectation, RecordExpectation } from '../intent/verify/expectation.ts';
import type { RiskLevel } from '../intent/verify/risk-table.ts';
import type { AskedWorkflowSpec, WorkflowRecord, WorkflowStatus } from '../model/asked.ts';
import type { NamedPeers } from './named-peers.ts';

/** How long a workflow waits for a person. */
export const WORKFLOW_TTL_MS = 24 * 3_600_000;

/** A call of an operation that waits for a person, where it is no change of the network as plans know them. */
export interface HeldCall {
  readonly operation: string;
  /** Workspaces whose people decide about it, each in a workflow of its own. */
  readonly approvedIn: readonly string[];
  /** Workspace that it runs in; not always that of the workflow. */
  readonly workspace: string;
  /** Absent where the input or the answer has a secret: then the caller repeats the call once it is approved. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** The input without secrets, for who approves. */
  readonly asked: Readonly<Record<string, unknown>>;
  /** What it was shown to do, see `shownDigest`. */
  readonly shown: string;
  /** Of whom that speaks; absent in what was stored before it was kept. */
  readonly named?: NamedPeers;
  /** HMAC-SHA256 over operation, workspace, caller and input, hex; its key stays in `credentials.json`. */
  readonly digest: string;
  readonly caller: Pick<Caller, 'kind' | 'id' | 'subject' | 'name' | 'interactive' | 'tokenId'> & {
    /** What the caller held; it is carried out with no more. */
    readonly scopes: readonly Scope[];
  };
}

/** What is asked for; never changes. */
export interface WorkflowSpec extends AskedWorkflowSpec {
  /** Whose reading the changes are, and what they say of it; absent of a call that waits. */
  readonly plannedBy?: PlannedBy;
  readonly readBy?: ReadBy;
  readonly sentence?: string;
  /** Why, in the words of who asked. */
  readonly intent: string;
  readonly planId?: string;
  readonly changes: readonly NetworkChange[];
  /** What must hold of its effect when it is carried out, as when it was planned. */
  readonly expectations: readonly Expectation[];
  readonly records: readonly RecordExpectation[];
  readonly expectedBy?: ExpectedBy;
  readonly callerExpectations?: readonly Expectation[];
  readonly said?: readonly NetworkChange[];
  readonly notes?: readonly string[];
  /** Asked with the plan: who approves it answers. */
  readonly questions?: readonly string[];
  readonly shown: readonly ShownChange[];
  readonly effect: EffectView;
  readonly digest: string;
  readonly diffMarkdown: string;
  /** Check of its effect at submission; absent for held calls and in records of earlier versions. */
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
  /** Who applied the plan, where that was not who asked for it. */
  readonly appliedBy: string;
  /** Accounts that answer for who asked and who applied; whoever approves has to be another one. */
  readonly persons?: readonly string[];
  /** A call that is carried out instead of `changes`. */
  readonly call?: HeldCall;
  /** Who was asked to approve; decides nothing. */
  readonly approvalAskedOf?: string;
  readonly autoApprove: boolean;
  /** Applied although its effect is not what was meant, by someone who may (`intents:override`). */
  readonly overridden: boolean;
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

/** The revision its execution made: the one that says so. */
export function resultRevision({ status, revision }: WorkflowRecord): number | undefined {
  return status.state === 'executed' ? revision : undefined;
}
