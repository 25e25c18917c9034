import type { components } from './schema.d.ts';

type Schemas = components['schemas'];

/** With all fields, as it is answered where none are chosen. */
export type Peer = Required<Schemas['Peer']>;
export type Agent = Schemas['Agent'];
export type Overview = Schemas['GetOverviewResponse'];
export type Workflow = Schemas['Workflow'];
export type WorkflowDetail = Schemas['GetWorkflowResponse'];
export type RefreshedPreview = Schemas['RedrawWorkflowResponse'];
export type Drawing = NonNullable<RefreshedPreview['drawing']>;
export type EffectKinds = Drawing['opens'];
export type EffectKind = EffectKinds['rows'][number];
export type Effect = Schemas['Effect'];
export type EffectRow = Schemas['EffectOpened'];
export type ShownChange = Schemas['PreviewResourcesResponseChange'];
export type RiskLevel = Workflow['riskLevel'];
export type User = Schemas['User'] & { readonly lockedUntil?: string };
export type Member = Schemas['Member'];
export type Role = Member['role'];
export type ApiToken = Schemas['ApiToken'];
export type WorkspaceDetail = Schemas['Workspace'];
export type Webhook = Schemas['Webhook'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type Plan = Schemas['PlanNetworkChangeResponse'];
export type PlanRequest = Partial<Schemas['PlanNetworkChangeRequest']>;
export type Order = Schemas['Order'];
export type TypedChange = Schemas['PlanNetworkChangeRequestChange'];
/** A change that a fix or remedy names. */
export type ProposedChange = Schemas['ProposedChange'];
/** Also told by the stream that answers a question about the past. */
export type CauseFindings = Schemas['FindCauseResponse'];
export type Policy = Required<Schemas['Policy']>;
export type PolicySpec = Schemas['PolicySpec'];
export type Finding = Schemas['ListPoliciesResponseFinding'];
export type Network = Required<Schemas['Network']>;
export type Assertion = Required<Schemas['Assertion']>;
export type Preview = Schemas['PreviewResourcesResponse'];
export type Selector = Schemas['Selector'];
export type PeerEntry = Schemas['Peers'][number];
export type PortEntry = Schemas['Ports'][number];
