import type { RecordDraft } from '../../base/record.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import type { PlanOwner, PlanStatus } from '../../model/workflow-records.ts';
import type { RequesterKind } from '../../model/workspaces.ts';
import type { Order } from '../orders/order.ts';
import type { Expectation, RecordExpectation } from '../verify/expectation.ts';
import type { RiskLevel } from '../verify/risk-table.ts';
import type { ExpectedBy, IntentReading, PlannedBy, ReadBy } from './check.ts';
import type { PlanServices } from './services.ts';

/** A plan that was shown and may be applied once. Its effect is computed again when it is; the digest says if it is the same. */
export interface PlanSpec extends PlanOwner {
  readonly intent: string;
  /** The effect in one line. */
  readonly summary: string;
  readonly plannedBy?: PlannedBy;
  readonly readBy?: ReadBy;
  readonly askedBy?: RequesterKind;
  /** The own words of a model on why, and its own opinion of the risk. */
  readonly reasoning?: string;
  readonly risk?: RiskLevel;
  readonly sentence?: string;
  readonly changes: readonly NetworkChange[];
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
  /** Markdown of what the planner says in its own words, marked as such. */
  readonly words?: string;
  readonly questions?: readonly string[];
  readonly digest: string;
  /** The first begin among the policies that it writes or deletes, ms; absent where none of them waits. */
  readonly begins?: number;
  readonly baseRevision: number;
  /** Actor that asked. */
  readonly requestedBy: string;
  /** Account that answers for them; absent where none is known. */
  readonly person?: string;
  /** The peer that they asked from, where it was known. */
  readonly requesterPeer?: string;
}

declare module '../../base/record.ts' {
  interface RecordTypes {
    Plan: { spec: PlanSpec; status: PlanStatus };
  }
}

export function planDraft(id: string, spec: PlanSpec, status: PlanStatus = {}): RecordDraft<'Plan'> {
  return { kind: 'Plan', name: id, uid: id, labels: {}, annotations: {}, spec, status, unique: [planKey(id)] };
}

/** The workspace of a plan, whosever it is: nobody can guess its id. */
export async function workspaceOfPlan({ store }: Pick<PlanServices, 'store'>, id: string): Promise<string | undefined> {
  return (await store.lookup(planKey(id)))?.workspace;
}

function planKey(id: string): string {
  return `plan:${id}`;
}
