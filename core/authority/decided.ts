import type { RecordDraft } from '../base/record.ts';

/**
 * What of a record is decided when a person lets a call write it, peers by their ids: what is made up at each attempt, such
 * as a secret or an instant, and what only follows others is left out.
 */
export function decidedIn(draft: RecordDraft): unknown {
  switch (draft.kind) {
    case 'MeshPeer': {
      const { network, agentRef, delegatedBy } = draft.spec;
      return [draft.labels, network, agentRef, delegatedBy, draft.status.phase];
    }
    case 'MeshPolicy':
    case 'MeshNetwork':
    case 'PolicyAssertion':
    case 'Member':
      return draft.spec;
    case 'AgentIdentity':
      // Its time runs from when it is made.
      return { ...draft.spec, expiresAt: null };
    case 'Token': {
      const { kind, labels, network, usageLimit, scopes } = draft.spec;
      return { kind, labels, network, usageLimit, scopes };
    }
    case 'Workspace':
      return draft.spec.settings;
    case 'Account': {
      const { role, disabled, successor } = draft.spec;
      return { role, disabled, successor };
    }
    case 'Presence':
    case 'AddressRest':
    case 'Workflow':
    case 'Plan':
    case 'Snapshot':
    case 'Assessment':
    case 'AssessmentPage':
    case 'ComplianceDrift':
    case 'Review':
    case 'ReviewPage':
    case 'ReviewDue':
    case 'Session':
    case 'Webhook':
    case 'WebhookDelivery':
      return null;
    default:
      return draft satisfies never;
  }
}
