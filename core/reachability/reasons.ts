/** Every reason a connectivity answer can give. Closed: clients switch on it. */
export const REASON_CODES = [
  'PEER_NOT_FOUND',
  'PEER_PENDING',
  'PEER_REVOKED',
  'PEER_EXPIRED',
  'DIFFERENT_NETWORK',
  'SELF_TRAFFIC',
  'EXTERNAL_TO_EXTERNAL',
  'DELEGATION_BOUND',
  'EGRESS_DENIED_BY_RULE',
  'EGRESS_ISOLATED',
  'EGRESS_PORT_MISMATCH',
  'INGRESS_DENIED_BY_RULE',
  'INGRESS_ISOLATED',
  'INGRESS_PORT_MISMATCH',
  'ALLOWED_BY_RULE',
  'ALLOWED_BY_DEFAULT',
  'DENIED_BY_DEFAULT',
  'NO_SNAPSHOT',
  'SNAPSHOT_GAP',
] as const;
export type ReasonCode = (typeof REASON_CODES)[number];

/** Stages of the decision, in order; the first failing stage ends the answer. */
export const STAGES = [
  'known',
  'approved',
  'not_expired',
  'same_network',
  'delegation_bound',
  'egress',
  'ingress',
] as const;
export type Stage = (typeof STAGES)[number];
