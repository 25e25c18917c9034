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

export type Assessment = Schemas['AssessComplianceResponse'];
export type Control = Assessment['controls'][number];
export type FailingInterval = Control['failing'][number];
export type FlipCause = NonNullable<FailingInterval['begun_by']>;
export type Plan = Schemas['PlanNetworkChangeResponse'];
