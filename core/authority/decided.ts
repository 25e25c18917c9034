import type { Kind, RecordDraft } from '../base/record.ts';
import type { AccountSpec } from '../identity/accounts.ts';
import type { AgentSpec, PeerSpec, PeerStatus } from '../model/resources.ts';
import type { TokenSpec } from '../model/token-record.ts';
import type { WorkspaceSpec } from '../model/workspaces.ts';

/**
 * What of a record is decided when a person lets a call write it, peers by their ids: what is made up at each attempt, such
 * as a secret or an instant, and what only follows others is left out.
 */
export function decidedIn(draft: RecordDraft): unknown {
  return DECIDED[draft.kind](draft);
}

type Decided = (draft: RecordDraft) => unknown;
const whole: Decided = ({ spec }) => spec;
const nothing: Decided = () => null;

/** A kind that is added needs a line here before it compiles. */
const DECIDED: Readonly<Record<Kind, Decided>> = {
  MeshPeer: ({ labels, spec, status }) => {
    const { network, agentRef, delegatedBy } = spec as PeerSpec;
    return [labels, network, agentRef, delegatedBy, (status as PeerStatus).phase];
  },
  MeshPolicy: whole,
  MeshNetwork: whole,
  PolicyAssertion: whole,
  // Its time runs from when it is made.
  AgentIdentity: ({ spec }) => ({ ...(spec as AgentSpec), expiresAt: null }),
  Token: ({ spec }) => {
    const { kind, labels, network, usageLimit, scopes } = spec as TokenSpec;
    return { kind, labels, network, usageLimit, scopes };
  },
  Member: whole,
  Workspace: ({ spec }) => (spec as WorkspaceSpec).settings,
  Account: ({ spec }) => {
    const { role, disabled, successor } = spec as AccountSpec;
    return { role, disabled, successor };
  },
  Presence: nothing,
  AddressRest: nothing,
  Workflow: nothing,
  Plan: nothing,
  Snapshot: nothing,
  Session: nothing,
};
