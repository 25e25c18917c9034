import type { components } from '../../api/schema.d.ts';

type Schemas = components['schemas'];

export type ControlStatus = Schemas['AssessComplianceResponseControl']['status'];
export type AssessmentRow = Schemas['Assessment'];
export type Schedule = Schemas['AssessmentSchedule'];
export type Drift = Schemas['ComplianceDrift'];
export type Credential = Schemas['Credential'];
export type Review = Schemas['Review'];
export type ReviewItem = Schemas['GetReviewResponseItem'];
export type ReviewKind = Review['kind'];

export interface FlipCause {
  readonly at: string;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly workflow_id: string | null;
  readonly reviewed_by: string | null;
  readonly direct: boolean;
  readonly resources: readonly string[];
}

export interface FailingInterval {
  readonly from: string;
  readonly to: string;
  readonly facts: string;
  readonly begun_by: FlipCause | null;
  readonly ended_by: FlipCause | null;
}

/** As docs/compliance.md#results tells; the API's document has the fields that every control has. */
export interface Control {
  readonly id: string;
  readonly title: string;
  readonly status: ControlStatus;
  readonly evidence: string;
  readonly remediation: string;
  readonly strength: 'strong' | 'partial';
  readonly caveat: string;
  readonly references: readonly string[];
  readonly passing_of: 'time' | 'changes' | 'days' | 'now';
  readonly failing: readonly FailingInterval[];
  readonly omitted_failing: number;
  readonly changes: NonNullable<Schemas['PlanNetworkChangeRequest']['changes']>;
  readonly effect: { readonly summary: string; readonly holds_after: boolean } | null;
}

export type Assessment = Omit<Schemas['AssessComplianceResponse'], 'controls'> & {
  readonly controls: readonly Control[];
};

export type Plan = Schemas['PlanNetworkChangeResponse'];
