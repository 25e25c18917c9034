import type { Kind, RecordDraft } from '../base/record.ts';
import { ROLE_SCOPES } from '../base/scope.ts';
import { parseInstant } from '../base/time.ts';
import type { AccountSpec } from '../identity/accounts.ts';
import { changedGrants } from '../model/grants.ts';
import { labelsChanged } from '../model/labels.ts';
import type { TokenSpec } from '../model/token-record.ts';
import { sameValue } from '../model/value.ts';
import { REQUESTERS, RISKS, type WorkspaceSettings } from '../model/workspaces.ts';
import { agentOf } from '../state/network-model.ts';
import { endedAgents, endsWith } from './agent-ends.ts';
import { grantsBeyondJoining } from './join-grants.ts';
import { calledIn, type Write } from './writes.ts';

/**
 * Returns the writes of a batch that change who can reach whom or who may decide, as sentences. With `requireApproval` a
 * second person approves those. Approved peers and delegations are not among them: a registration is itself the request,
 * and delegation only narrows. Neither are agents that end, nor the records that end with them.
 *
 * @param callerId account that asks: what it changes of its own account needs nobody else
 * @param successors names of the accounts that are to take over agents, by their ids
 */
export function decisionsIn(
  writes: readonly Write[],
  { callerId, successors = new Map() }: { callerId: string; successors?: ReadonlyMap<string, string> },
): string[] {
  const ending = endedAgents(writes);
  return writes.flatMap((write) => decisionOf(write, { callerId, ending, successors }) ?? []);
}

/** Returns the ids of the accounts that are to take over agents. */
export function successorsIn(writes: readonly Write[]): string[] {
  return writes.flatMap((write) =>
    write.kind === 'Account' ? ((write as Write<'Account'>).after?.spec.successor ?? []) : [],
  );
}

/** Tells whether the approval settings are weaker than before. */
export function isWeaker(before: WorkspaceSettings, after: WorkspaceSettings): boolean {
  return (
    (before.requireApproval && !after.requireApproval) ||
    (before.requirePeerApproval && !after.requirePeerApproval) ||
    (before.approvalCode === true && after.approvalCode !== true) ||
    selfApprovalRank(after) > selfApprovalRank(before) ||
    loosensAutoApproval(before, after)
  );
}

/**
 * Returns whether a workspace would need the approval of a second person for less than it does. Where people may approve
 * their own requests it needs none.
 */
export function weakensApproval(write: Write): boolean {
  if (write.kind !== 'Workspace') return false;
  const { before, after } = write as Write<'Workspace'>;
  const [was, is] = [before?.spec.settings, after?.spec.settings];
  if (!was || !is || was.selfApproval === true) return false;
  // To let devices in takes one person, whether or not it has to be done.
  return isWeaker(was, { ...is, requirePeerApproval: was.requirePeerApproval });
}

/** Tells whether a workspace with `secondPerson` would be assessed by other rules, or demand nobody. */
export function changesDuty(write: Write): boolean {
  if (write.kind !== 'Workspace') return false;
  const { before, after } = write as Write<'Workspace'>;
  const [was, is] = [before?.spec.settings, after?.spec.settings];
  if (was?.compliance?.secondPerson !== true || !is) return false;
  return !sameValue(was.compliance, is.compliance) || !sameValue(was.reviews ?? {}, is.reviews ?? {});
}

/** Tells whether a write names a successor, or another one, for the agents of an account that leaves. */
export function namesSuccessor(
  was: Pick<AccountSpec, 'successor'> | undefined,
  is: Pick<AccountSpec, 'successor'>,
): boolean {
  return is.successor !== undefined && is.successor !== was?.successor;
}

interface Facts {
  readonly callerId: string;
  /** Ids and names of the agents that end in the same batch. */
  readonly ending: ReadonlySet<string>;
  readonly successors: ReadonlyMap<string, string>;
}

type Decision = string | readonly string[] | undefined;
type Rules = { readonly [K in Kind]: (write: Write<K>, facts: Facts) => Decision };
const never = () => undefined;

function decisionOf<K extends Kind>(write: Write<K>, facts: Facts): Decision {
  return RULES[write.kind](write, facts);
}

/** A kind that is added needs a rule here before it compiles. */
const RULES: Rules = {
  MeshPeer: peerDecision,
  MeshPolicy: (write, { ending }) => (endsWith(write, ending) ? undefined : `${verb(write)} the policy ${write.name}`),
  MeshNetwork: (write) => `${verb(write)} the network ${write.name}`,
  PolicyAssertion: (write) => `${verb(write)} the assertion ${write.name}`,
  AgentIdentity: agentDecision,
  Token: tokenDecision,
  Member: memberDecision,
  Workspace: workspaceDecision,
  Account: accountDecision,
  Presence: never,
  AddressRest: never,
  Workflow: never,
  Plan: never,
  Snapshot: never,
  Assessment: never,
  AssessmentPage: never,
  ComplianceDrift: never,
  Review: never,
  ReviewPage: never,
  ReviewDue: never,
  Webhook: never,
  WebhookDelivery: never,
  Session: never,
  DirectoryUser: never,
  DirectoryGroup: never,
};

const VERBS = { created: 'creates', updated: 'changes', deleted: 'deletes' } as const;

function verb({ type }: Pick<Write, 'type'>): string {
  return VERBS[type];
}

function peerDecision(write: Write<'MeshPeer'>, { ending }: Facts): Decision {
  const { type, before: was, after: is } = write;
  const name = calledIn(write);
  // Its registration is a request that is decided where it is let in.
  if (!was) return undefined;
  const [from, to] = [was.status.phase, is?.status.phase];
  // Whoever approves something reads names, those of pending peers too.
  const renamed = is && was.name !== is.name ? [`renames the peer ${was.name} to ${is.name}`] : [];
  if (type === 'deleted') {
    // To turn away who was never let in closes nothing.
    if (from === 'pending') return undefined;
    const agent = agentOf(was);
    return agent !== undefined && ending.has(agent) ? undefined : `deletes the peer ${name}`;
  }
  if (!is) return undefined;
  const isAdopted = was.spec.delegatedBy !== undefined && is.spec.delegatedBy === undefined;
  const changed = changedGrants(was, is).filter((field) => !(isAdopted && ADOPTION.has(field)));
  return [
    ...renamed,
    ...(is.status.keyByToken && was.spec.publicKey !== is.spec.publicKey
      ? [`changes the key of the peer ${name} to ${is.spec.publicKey} without a proof by its old key`]
      : []),
    ...(from === 'revoked' && to === 'ready' ? [`lets the revoked peer ${name} in again`] : []),
    ...(from === 'ready' && to === 'revoked' ? [`revokes the peer ${name}`] : []),
    ...(isAdopted ? [`adopts the peer ${name}`] : []),
    ...changed.map((field) => {
      const more = field === 'labels' ? `: ${labelsChanged(was.labels, is.labels)}` : '';
      return `changes the ${field} of the peer ${name}${more}`;
    }),
  ];
}

/** Fields that an adopted peer loses. */
const ADOPTION: ReadonlySet<string> = new Set(['delegatedBy', 'expiresAt']);

function agentDecision({ type, name, before, after }: Write<'AgentIdentity'>): Decision {
  const is = after?.spec;
  if (type === 'created') return is && is.parentRef === undefined ? `makes the root agent ${name}` : undefined;
  if (!before || !after || !is) return undefined;
  const was = before.spec;
  const agent = is.parentRef === undefined ? `root agent ${name}` : `agent ${name}`;
  return changedGrants(before, after).flatMap((field) => {
    // To end earlier gives nothing.
    if (field === 'expiresAt' && parseInstant(is.expiresAt) <= parseInstant(was.expiresAt)) return [];
    if (field === 'expiresAt') return [`renews the ${agent} until ${is.expiresAt}`];
    // The rights of an agent follow those of its person.
    if (field === 'person')
      return was.person?.id === is.person?.id ? [] : [`makes ${is.person?.name} answer for the agent ${name}`];
    return [`changes the ${field} of the ${agent}`];
  });
}

/** Characters of an egress that a sentence says. */
const MAX_EGRESS_TEXT = 400;

/** Only a join token can give what its maker does not hold: any other speaks for its owner. */
function tokenDecision({ before, after }: Write<'Token'>): Decision {
  if (after?.spec.kind !== 'join') return undefined;
  const { spec } = after;
  const given = Object.keys(grantsBeyondJoining(after));
  // A change of its texts alone decides nothing; one of who may use it, or how often, does.
  if (before && changedGrants(before, after).length === 0) return undefined;
  const texts: Readonly<Record<string, string>> = {
    labels: `with labels: ${labelsChanged({}, spec.labels)}`,
    network: `for the network ${spec.network}`,
    admits: 'whose devices need no approval',
    deviceLabels: `whose devices may ask for labels: ${spec.deviceLabels?.join(', ')}`,
    preset: `whose workloads are held to the preset ${spec.preset}`,
    egress: `whose workloads may reach what its egress says: ${JSON.stringify(spec.egress ?? []).slice(0, MAX_EGRESS_TEXT)}`,
  };
  const what = `${before ? 'changes' : 'makes'} the join token ${spec.name}${usersOf(spec)}`;
  return given.map((field) => `${what} ${texts[field] ?? `that grants ${field}`}`);
}

function usersOf({ identity }: TokenSpec): string {
  if (!identity) return '';
  const claims = Object.entries(identity.claims).map(([name, pattern]) => `${name}=${pattern}`);
  return ` for workloads of ${identity.issuer} (${claims.join(', ')})`;
}

function memberDecision({ name, before, after }: Write<'Member'>): string | undefined {
  const [was, is] = [rolesScopes(before), rolesScopes(after)];
  if (sameValue([...was], [...is])) return undefined;
  if (!was.has('workflows:approve') && !is.has('workflows:approve')) return undefined;
  return is.size > was.size ? `gives ${name} more to decide` : `takes from ${name} what they decide`;
}

function rolesScopes(record: RecordDraft<'Member'> | undefined): ReadonlySet<string> {
  const role = record?.spec.role;
  return role !== undefined && Object.hasOwn(ROLE_SCOPES, role) ? ROLE_SCOPES[role] : new Set<string>();
}

function workspaceDecision(write: Write<'Workspace'>): Decision {
  const { type, name, before, after } = write;
  if (type === 'deleted') return `deletes the workspace ${name}`;
  const [was, is] = [before?.spec, after?.spec];
  if (!was || !is) return undefined;
  return [
    ...(isWeaker(was.settings, is.settings) ? [`weakens the approval settings of the workspace ${name}`] : []),
    ...(is.settings.successor && !sameValue(was.settings.successor ?? {}, is.settings.successor)
      ? [`names another successor for people who leave the workspace ${name}`]
      : []),
    ...(changesDuty(write) ? [`changes what the workspace ${name} is assessed by`] : []),
  ];
}

function accountDecision({ type, name, before: was, after }: Write<'Account'>, facts: Facts): string[] {
  const { callerId } = facts;
  const is = after?.spec;
  // The rights of the account are looked up by `concernedWorkspaces`.
  if (type === 'created') return [`creates the account ${name}`];
  // A disabled account decides nothing any more.
  if (type === 'deleted') return was?.spec.disabled ? [] : [`deletes the account ${name}`];
  if (!was || !is) return [];
  return [
    ...(was.spec.role === is.role ? [] : [`makes ${name} a ${is.role}`]),
    ...(was.spec.disabled === is.disabled
      ? []
      : [is.disabled ? endsDecision(name, is, facts) : `enables the account ${name}`]),
    ...(was.spec.disabled === is.disabled && namesSuccessor(was.spec, is)
      ? [`passes the agents of ${name} to ${heirOf(is, facts)}`]
      : []),
    ...(was.spec.passwordHash !== is.passwordHash && was.uid !== callerId ? [`sets another password for ${name}`] : []),
    ...(was.spec.secondFactor && !is.secondFactor && was.uid !== callerId
      ? [`takes the second factor of ${name} away`]
      : []),
  ];
}

/** A deletion begins with an account that is disabled, and goes on by itself. */
function endsDecision(name: string, spec: RecordDraft<'Account'>['spec'], facts: Facts): string {
  const { leaving, successor } = spec;
  const agents = successor === undefined ? 'and ends its agents' : `and gives its agents to ${heirOf(spec, facts)}`;
  return `${leaving?.to === 'deleted' ? 'deletes' : 'disables'} the account ${name} ${agents}`;
}

function heirOf({ successor = '' }: Pick<AccountSpec, 'successor'>, { successors }: Facts): string {
  return successors.get(successor) ?? 'a successor';
}

function selfApprovalRank({ selfApproval }: WorkspaceSettings): number {
  if (selfApproval === undefined) return 1;
  return selfApproval ? 2 : 0;
}

/** Returns true if plans would be executed without a person that are not now. Without `from`, those of everybody have to match. */
function loosensAutoApproval(
  { autoApprove: before }: WorkspaceSettings,
  { autoApprove: after }: WorkspaceSettings,
): boolean {
  if (!after) return false;
  if (!before || RISKS.indexOf(after.maxRisk) > RISKS.indexOf(before.maxRisk)) return true;
  if (!after.from) return before.from !== undefined && before.from.length < REQUESTERS.length;
  return after.from.some((requester) => !before.from?.includes(requester));
}
