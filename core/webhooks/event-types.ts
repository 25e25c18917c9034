import { nearest as nearestTo } from '../base/nearest.ts';

/**
 * Every type of event that a webhook can be told, and when it comes. What is not here is never sent. A security event of
 * the audit log becomes deliverable with its line in {@link SECURITY_EVENTS}.
 */
const COMMIT_EVENTS = {
  'workflow.pending': 'a change or a call waits for a person to approve it',
  'workflow.approved': 'a person has approved it',
  'workflow.executing': 'it is being carried out',
  'workflow.executed': 'it is in force',
  'workflow.failed': 'it could not be carried out',
  'workflow.rejected': 'a person has rejected it',
  'workflow.expired': 'nobody decided in time, or who asked has gone',
  'peer.created': 'devices have registered',
  'peer.updated': 'peers were approved, revoked, relabelled or moved, or have another key',
  'peer.deleted': 'peers have left',
  'peer.online': 'peers were heard of again',
  'peer.offline': 'peers are no longer heard of',
  'policy.created': 'access policies were made',
  'policy.updated': 'access policies were changed',
  'policy.deleted': 'access policies were deleted',
  'network.created': 'networks were made',
  'network.updated': 'networks were changed',
  'network.deleted': 'networks were deleted',
  'assertion.created': 'assertions were made',
  'assertion.updated': 'assertions were changed',
  'assertion.deleted': 'assertions were deleted',
  'agent.created': 'agents were made or delegated',
  'agent.updated': 'agents were renewed or have enrolled',
  'agent.ended': 'agents have expired or were revoked',
  'agent.deleted': 'ended agents were removed',
  'snapshot.created': 'a snapshot was taken',
  'snapshot.deleted': 'snapshots were removed, by retention too',
  'assessment.created': 'a period was assessed',
  'member.created': 'people became members of the workspace',
  'member.updated': 'members have another role',
  'member.deleted': 'people are members no longer',
} as const;

/** Security events by their type in the audit log, which is the type of the event too. Their `detail` is sent. */
export const SECURITY_EVENTS = {
  token_used: 'a device has used a join token',
  'peer.key_shared': 'two machines use the key of one device, as after copying its configuration directory',
  'approval.ended': 'whoever runs the host ended the need for a second person',
  'compliance.drift': 'an assessment judged a control otherwise than the one before',
  'compliance.schedule_failed': 'a scheduled assessment could not be made',
  'review.due': 'a review of access, policies or activity is due',
  'audit.contradicted': 'a device was shown an audit log that contradicts the one it kept',
  'audit.no_activity': 'a day has passed without an entry in the audit log',
} as const;

/** The event that a webhook test sends, to that webhook alone and regardless of its subscriptions. */
export const TEST_EVENT = 'webhook.test';

export const EVENT_TYPES: Readonly<Record<string, string>> = { ...COMMIT_EVENTS, ...SECURITY_EVENTS };

export type CommitEventType = keyof typeof COMMIT_EVENTS;

export function isSecurityEventType(type: string): boolean {
  return Object.hasOwn(SECURITY_EVENTS, type);
}

/** Returns true if a subscription covers a type: it is the type, `<prefix>.*`, or `*`. */
export function subscribes(subscription: string, type: string): boolean {
  if (subscription === '*') return true;
  return subscription.endsWith('.*') ? type.startsWith(subscription.slice(0, -1)) : subscription === type;
}

/** Returns the fault of a subscription; undefined where it covers at least one type. */
export function subscriptionFault(subscription: string): string | undefined {
  const types = Object.keys(EVENT_TYPES);
  if (types.some((type) => subscribes(subscription, type))) return undefined;
  const prefixes = new Set(types.filter((type) => type.includes('.')).map((type) => `${type.split('.')[0]}.*`));
  const [nearest] = nearestTo(subscription, [...types, ...prefixes]);
  const hint =
    nearest === undefined
      ? `Events are ${types.join(', ')}`
      : `Did you mean ${nearest}? Events are listed in docs/webhooks.md`;
  return `There is no event ${subscription}. ${hint}; a prefix such as workflow.* means all below it, and * all.`;
}
