import type { Kind } from '../base/record.ts';
import { changedGrants } from '../model/grants.ts';
import { AGENT_LABEL } from '../model/presets.ts';
import type { AgentRecord } from '../model/resources.ts';
import { sameValue } from '../model/value.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { family, isOpen } from '../state/agent-tree.ts';
import { agentOf } from '../state/network-model.ts';
import type { NetworkState } from '../state/state.ts';
import { endedAgents, endsWith, onlyEnds } from './agent-ends.ts';
import { grantsBeyondJoining } from './join-grants.ts';
import { calledIn, type Write } from './writes.ts';

/** An agent with its descendants, whose records it may write. */
interface Owner {
  readonly id: string;
  readonly agent: AgentRecord | undefined;
  /** Ids and names of itself and its descendants. */
  readonly ids: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  /** Ids and names of the agents that end in the same batch. */
  readonly ending: ReadonlySet<string>;
}

/**
 * Returns the writes of a batch that are not an agent's to make, as sentences: to records of its ancestors, of other agents
 * and of people, and to kinds of records that only people write.
 */
export function foreignWrites(
  writes: readonly Write[],
  id: string,
  agent: AgentRecord | undefined,
  state: NetworkState,
): string[] {
  const line = agent ? family(state, agent) : [];
  const owner: Owner = {
    id,
    agent,
    ids: new Set([id, ...line.map(({ uid }) => uid)]),
    names: new Set(line.map(({ name }) => name)),
    ending: endedAgents(writes),
  };
  const foreign = writes.filter((write) => !isOwn(write, owner));
  const ended = onlyEnds(writes) ? foreign.filter((write) => endsFirst(write, owner)) : [];
  const named = ended.length > 0 ? ended : foreign.filter((write) => !followsNetwork(write, writes));
  return named.map((write) => `${SAYS[write.type]} ${nameOf(write)}`);
}

/** Tells whether a write ends the agent that the call named: its refusal does not name what ends with it. */
function endsFirst({ kind, before, after }: Write, { ending }: Owner): boolean {
  if (kind !== 'AgentIdentity' || before?.kind !== 'AgentIdentity' || !after) return false;
  return ending.has(before.uid) && !ending.has(before.spec.parentRef?.name ?? '');
}

/** Tells whether a write gives a peer another address with its network, which the call named: the refusal names that alone. */
function followsNetwork({ kind, before, after }: Write, writes: readonly Write[]): boolean {
  if (kind !== 'MeshPeer' || before?.kind !== 'MeshPeer' || after?.kind !== 'MeshPeer') return false;
  const { network } = before.spec;
  return (
    sameValue(before.spec, after.spec) && writes.some((write) => write.kind === 'MeshNetwork' && write.name === network)
  );
}

const SAYS = { created: 'it would create', updated: 'it would change', deleted: 'it would delete' } as const;

const WORDS: Readonly<Partial<Record<Kind, string>>> = {
  MeshPeer: 'the peer',
  MeshPolicy: 'the policy',
  MeshNetwork: 'the network',
  AgentIdentity: 'the agent',
  PolicyAssertion: 'the assertion',
};

/** Limits on records of an agent's own, by kind. */
const OWN_LIMITS: Readonly<Partial<Record<Kind, string>>> = {
  Token: 'give devices labels or another network',
};

function nameOf(write: Write): string {
  const { kind, before } = write;
  const limit = before === undefined ? OWN_LIMITS[kind] : undefined;
  if (limit !== undefined) return `a token to ${limit}`;
  const word = WORDS[kind] ?? `a record of kind ${kind}`;
  const whose = before === undefined ? '' : ', which is not its own to change so';
  return WORDS[kind] === undefined ? `${word}${whose}` : `${word} ${calledIn(write)}${whose}`;
}

type Rules = { readonly [K in Kind]: (write: Write<K>, owner: Owner) => boolean };
const always = () => true;
const never = () => false;

function isOwn<K extends Kind>(write: Write<K>, owner: Owner): boolean {
  return RULES[write.kind](write, owner);
}

/** Tells for each kind whether a write is an agent's own. A kind that is added needs a rule here before it compiles. */
const RULES: Rules = {
  MeshPeer: ownsPeer,
  MeshPolicy: (write, { ids, ending }) =>
    write.type === 'created' || isWrittenBy(write.before, ids) || endsWith(write, ending),
  MeshNetwork: never,
  AgentIdentity: ownsAgent,
  PolicyAssertion: never,
  Token: ownsToken,
  Plan: ({ type, before }, { id }) => type === 'created' || hasField(before, 'requesterId', id),
  Workflow: ({ type, before }, { id }) =>
    type === 'created' || hasField(before, 'requesterId', id) || hasField(before, 'applierId', id),
  Snapshot: ({ type }) => type === 'created',
  Assessment: ({ type }) => type === 'created',
  AssessmentPage: ({ type }) => type === 'created',
  ComplianceDrift: ({ type }) => type === 'created',
  // A person reviews, never an agent.
  Review: never,
  ReviewPage: never,
  ReviewDue: never,
  // They follow what becomes of peers, which is judged by itself.
  Presence: always,
  AddressRest: always,
  Member: never,
  Workspace: never,
  Account: never,
  Session: never,
  DirectoryUser: never,
  DirectoryGroup: never,
  Webhook: never,
  WebhookDelivery: never,
};

/** Its own peers and those that came with its tokens, but not their approval, and no field that gives or bounds access. */
function ownsPeer({ type, before: was, after: is }: Write<'MeshPeer'>, { names, ending }: Owner): boolean {
  if (type === 'created') return false;
  if (!was) return true;
  const agent = agentOf(was);
  const isOwn = agent !== undefined && names.has(agent);
  // A peer that a person revoked stays revoked, unless it ends with its agent.
  if (is === undefined) return isOwn && (was.status.phase !== 'revoked' || ending.has(agent));
  if (changedGrants(was, is).length > 0) return false;
  if (was.status.phase === is.status.phase || is.status.phase !== 'ready') return isOwn;
  // An agent with `peers:approve` lets in the new devices of others, never its own.
  return !isOwn && was.status.phase === 'pending' && sameValue(was.spec, is.spec);
}

/** It makes sub-agents of its own, ends its descendants, and takes the names of agents that have ended. */
function ownsAgent({ type, before: was, after: is }: Write<'AgentIdentity'>, { agent, ids, id }: Owner): boolean {
  if (type === 'created') return agent !== undefined && is?.spec.parentRef?.name === agent.name;
  if (!was) return true;
  // A name that another's agent had is not its to take: the audit log knows agents by their names.
  if (type === 'deleted') return ids.has(was.uid) && !isOpen(was);
  if (!is) return false;
  if (was.uid === id) return sameValue(was.spec, is.spec) && was.status.phase === is.status.phase;
  return ids.has(was.uid) && sameValue(was.spec, is.spec);
}

function ownsToken({ type, before, after }: Write<'Token'>, { ids }: Owner): boolean {
  const spec = (after ?? before)?.spec;
  if (!spec) return true;
  if (spec.kind === 'join') {
    const isPlain = Object.keys(grantsBeyondJoining({ spec })).length === 0;
    // A rule that another made does not become its own by being changed.
    const sides = [before, after].filter((side) => side !== undefined);
    const isIts = sides.every((side) => side.spec.issuedBy !== undefined && ids.has(side.spec.issuedBy));
    return isIts && (isPlain || type === 'deleted');
  }
  if (spec.kind === 'dlg') return ids.has(spec.owner) || type === 'created';
  // Tokens of devices and agents go with what they belong to.
  return type === 'deleted' && (spec.kind === 'dev' || spec.kind === 'agt' || spec.kind === 'oat');
}

function isWrittenBy(record: Write['before'], ids: ReadonlySet<string>): boolean {
  if (!record) return true;
  const author = record.annotations[WRITTEN_BY];
  return author !== undefined && ids.has(author) && !Object.hasOwn(record.labels, AGENT_LABEL);
}

function hasField(record: Write['before'], field: 'requesterId' | 'applierId', id: string): boolean {
  return record === undefined || (record.spec as { readonly [key: string]: unknown })[field] === id;
}
