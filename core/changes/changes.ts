import { eachOrFaults } from '../base/each-or-faults.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { jsonPointer } from '../base/json-pointer.ts';
import type { Op } from '../base/ports.ts';
import { draftOf, type RecordDraft, type StoredRecord } from '../base/record.ts';
import { formatWritable, hasEnded, parseInstant } from '../base/time.ts';
import { findRecord, lookUp } from '../model/find.ts';
import { peerIdsOf, withPeerIds } from '../model/peer-lists.ts';
import type { PolicySpec } from '../model/policy.ts';
import { beginOf, begun, endOf } from '../model/policy-match.ts';
import { holderOf, isOfAgent, RESERVED_LABEL_PREFIX } from '../model/presets.ts';
import { NAME_PATTERN, type NetworkSpec, normalizeName } from '../model/resources.ts';
import { sameValue } from '../model/value.ts';
import { BEGIN_SLACK_MS, beginsOf, MAX_BEGINS } from '../state/begins.ts';
import { requireRevision } from '../state/expecting.ts';
import { findPeer } from '../state/find-peer.ts';
import { type NetworkState, writtenPolicies } from '../state/state.ts';
import { checkNetworks, checkReferences, type ReservedRange } from './change-checks.ts';
import { planMoves } from './moves.ts';
import {
  type ChangedKind,
  type ChangeOutcome,
  type PlannedChange,
  refuseDoubles,
  stateAfter,
  updateOf,
  WORD,
} from './planned-change.ts';
import { planRenumbering } from './renumber.ts';

/**
 * A typed change of the network, the one form in which policy writes, applied YAML, plans and workflows speak.
 * Labels and the network of a peer decide access, so their change is a change like any other (docs/policy.md#kinds). `revision` is
 * the version of the record that its author has seen: another one is a conflict.
 */
export type NetworkChange =
  | {
      readonly action: 'create' | 'update';
      readonly resource: 'MeshPolicy';
      readonly name: string;
      readonly spec: PolicySpec;
      readonly labels?: Readonly<Record<string, string>>;
      readonly annotations?: Readonly<Record<string, string>>;
      readonly revision?: number;
    }
  | {
      readonly action: 'create' | 'update';
      readonly resource: 'MeshNetwork';
      readonly name: string;
      readonly spec: NetworkSpec;
      readonly labels?: Readonly<Record<string, string>>;
      readonly annotations?: Readonly<Record<string, string>>;
      readonly revision?: number;
    }
  | {
      readonly action: 'update';
      readonly resource: 'MeshPeer';
      readonly name: string;
      readonly labels?: Readonly<Record<string, string>>;
      readonly network?: string;
      readonly revision?: number;
    }
  | {
      readonly action: 'delete';
      readonly resource: 'MeshPolicy' | 'MeshNetwork';
      readonly name: string;
      readonly revision?: number;
    };

type WriteChange = Extract<NetworkChange, { spec: unknown }>;
type PeerChange = Extract<NetworkChange, { resource: 'MeshPeer' }>;

export interface ChangePlan {
  /** Each op carries the revision it was planned on; committed together or not at all. */
  readonly ops: readonly Op[];
  /** The state that the ops lead to, at the next revision. */
  readonly after: NetworkState;
  /** The changes as they are kept for later: with the ids of the peers that they list, so that nobody else gets a name. */
  readonly changes: readonly NetworkChange[];
  /** Outcome of each change, in their order. */
  readonly outcomes: readonly { readonly outcome: ChangeOutcome; readonly name: string }[];
}

/**
 * Turns changes into one batch of writes, or refuses them all. The changes are seen together: a policy may name a network
 * that the same batch creates.
 *
 * @throws MeshError `not_found`, `conflict` or `invalid_input` with a pointer `/changes/<index>/…`.
 */
export function planChanges(...given: Parameters<typeof draftChanges>): ChangePlan {
  return draftChanges(...given).plan();
}

/** Draft ops of changes, before the network as a whole is checked with them. */
interface DraftedChanges {
  /** Without the addresses of peers that move. */
  readonly ops: readonly Op[];
  /** @throws MeshError where networks, their peers and the policies that name them do not go together */
  plan(): ChangePlan;
}

/**
 * As {@link planChanges}, in two steps: who may not write this is to be told that and not what stands against it.
 *
 * @param reserved addresses that no network may hold
 */
export function draftChanges(
  state: NetworkState,
  given: readonly NetworkChange[],
  now: number,
  reserved: readonly ReservedRange[] = [],
): DraftedChanges {
  const made = eachOrFaults(given, (asked, index) => {
    const change = withIds(asked, index, state);
    return { change, planned: planOne(state, change, index, now) };
  });
  const changes = made.map(({ change }) => change);
  const planned = made.map((one) => one.planned);
  refuseDoubles(planned);
  const opsOf = () => planned.flatMap(({ op }) => (op ? [op] : []));
  return {
    ops: opsOf(),
    plan() {
      requireFreeNames(state, planned);
      requirePresets(state, planned);
      const renumbered = planRenumbering(state, planned, now);
      const all = [...planned, ...renumbered.peers];
      const moves = planMoves(state, stateAfter(state, all), planned, now);
      const after = stateAfter(state, all);
      checkNetworks(after, planned, reserved);
      checkReferences(state, after, planned);
      requireFewBegins(state, after);
      return {
        ops: [...opsOf(), ...renumbered.peers.flatMap(({ op }) => op ?? []), ...renumbered.ops, ...moves],
        after,
        changes,
        outcomes: planned.map(({ outcome, name }) => ({ outcome, name })),
      };
    },
  };
}

function requireFreeNames(state: NetworkState, planned: readonly PlannedChange[]): void {
  for (const { resource, name, outcome } of planned) {
    if (outcome !== 'created' || !lookUp(recordsOf(state, resource), name)) continue;
    throw new MeshError('conflict', `A ${WORD[resource]} ${name} exists already: update it, or choose another name.`);
  }
}

/** @throws MeshError `conflict` for the policy of a preset, which only the end of whom it holds removes */
function requirePresets({ policies }: NetworkState, planned: readonly PlannedChange[]): void {
  for (const { resource, name, outcome } of planned) {
    const policy = resource === 'MeshPolicy' && outcome !== 'unchanged' ? lookUp(policies, name) : undefined;
    if (!policy || !isOfAgent(policy)) continue;
    const holder = holderOf(policy);
    const detail =
      holder === 'an agent'
        ? `${name} holds an agent to its preset, and only the end of that agent removes it: revoke the agent, or write another policy beside it.`
        : `${name} holds workloads to the preset of their rule, and only their end removes it: delete these peers and change the rule, or write another policy beside it.`;
    throw new MeshError('conflict', detail);
  }
}

function withIds(change: NetworkChange, index: number, { peers }: NetworkState): NetworkChange {
  if (change.action === 'delete' || change.resource !== 'MeshPolicy') return change;
  const spec = withPeerIds(change.spec, peerIdsOf(peers), `/changes/${index}/spec`);
  return spec === change.spec ? change : { ...change, spec };
}

function planOne(state: NetworkState, change: NetworkChange, index: number, now: number): PlannedChange {
  switch (change.action) {
    case 'delete':
      return planDelete(state, change, index);
    case 'create':
      return planCreate(state, change, index, now);
    case 'update':
      return change.resource === 'MeshPeer'
        ? planPeerUpdate(state, change, index)
        : planUpdate(state, change, index, now);
    default:
      return change satisfies never;
  }
}

function recordsOf(
  state: NetworkState,
  resource: NetworkChange['resource'],
): ReadonlyMap<string, StoredRecord<ChangedKind>> {
  switch (resource) {
    case 'MeshPolicy':
      return writtenPolicies(state);
    case 'MeshNetwork':
      return state.networks;
    case 'MeshPeer':
      return state.peers;
    default:
      return resource satisfies never;
  }
}

function planCreate(state: NetworkState, change: WriteChange, index: number, now: number): PlannedChange {
  const { resource } = change;
  const name = normalizeName(change.name);
  if (!NAME_PATTERN.test(name)) {
    throw invalidInput([
      {
        pointer: `/changes/${index}/name`,
        detail: 'A name is 1 to 63 letters, digits, ".", "_" or "-", and not "." or "..".',
      },
    ]);
  }
  const common = {
    name,
    labels: labelsOf(change.labels ?? {}, {}, index),
    annotations: change.annotations ?? {},
    status: {},
    unique: [],
  };
  const draft: RecordDraft<'MeshPolicy' | 'MeshNetwork'> =
    resource === 'MeshPolicy'
      ? { ...common, kind: resource, uid: newId('pol'), spec: policySpec(change.spec, index, now) }
      : { ...common, kind: resource, uid: newId('net'), spec: change.spec };
  const next = { ...draft, workspace: state.workspace, createdAt: now, generation: 1, revision: state.revision + 1 };
  return { index, resource, name, outcome: 'created', op: { op: 'create', record: draft }, next };
}

function planUpdate(state: NetworkState, change: WriteChange, index: number, now: number): PlannedChange {
  switch (change.resource) {
    case 'MeshPolicy': {
      const before = expected(findRecord(writtenPolicies(state), WORD.MeshPolicy, change.name), change);
      const spec = policySpec(change.spec, index, now, before.spec);
      return updateOf(state, index, before, { ...draftOf(before), ...metaOf(change, before, index), spec });
    }
    case 'MeshNetwork': {
      const before = expected(findRecord(state.networks, WORD.MeshNetwork, change.name), change);
      const { spec } = change;
      return updateOf(state, index, before, { ...draftOf(before), ...metaOf(change, before, index), spec });
    }
    default:
      return change satisfies never;
  }
}

function metaOf({ labels, annotations }: WriteChange, before: StoredRecord, index: number) {
  return { ...(labels && { labels: labelsOf(labels, before.labels, index) }), ...(annotations && { annotations }) };
}

function planPeerUpdate(state: NetworkState, change: PeerChange, index: number): PlannedChange {
  const before = expected(findPeer(state, change.name), change);
  return updateOf(state, index, before, {
    ...draftOf(before),
    ...(change.labels && { labels: labelsOf(change.labels, before.labels, index) }),
    ...(change.network !== undefined && { spec: { ...before.spec, network: change.network } }),
  });
}

function planDelete(
  state: NetworkState,
  change: Extract<NetworkChange, { action: 'delete' }>,
  index: number,
): PlannedChange {
  const { resource, name } = change;
  const before = expected(findRecord(recordsOf(state, resource), WORD[resource], name), change);
  const op: Op = { op: 'delete', key: { kind: resource, name: before.name }, revision: before.revision };
  return { index, resource, name: before.name, outcome: 'deleted', op, before };
}

/** @throws MeshError `conflict` for a record that is not at the revision that the change names */
function expected<R extends StoredRecord>(record: R, { revision }: NetworkChange): R {
  if (revision !== undefined) requireRevision(record, revision);
  return record;
}

/** A policy that has ended may stay as it is, but none is written that ends in the past. */
function policySpec(sent: PolicySpec, index: number, now: number, before?: PolicySpec): PolicySpec {
  const spec = withBegin(sent, index, now, before);
  if (spec.expiresAt === undefined) return spec;
  const written = { ...spec, expiresAt: formatWritable(parseInstant(spec.expiresAt)) };
  if (hasEnded(written, now) && !sameValue(written, before)) {
    const detail = `expiresAt (${written.expiresAt}) has passed: name a time that is to come. Where the change waited for approval until then, plan it again.`;
    throw invalidInput([{ pointer: `/changes/${index}/spec/expiresAt`, detail }]);
  }
  return written;
}

/** A begin that has come means now. A policy that counts already has none. */
function withBegin(spec: PolicySpec, index: number, now: number, before?: PolicySpec): PolicySpec {
  const at = beginOf(spec);
  if (at <= now + BEGIN_SLACK_MS) return begun(spec);
  const refuse = (detail: string) => invalidInput([{ pointer: `/changes/${index}/spec/startsAt`, detail }], detail);
  if (before && before.startsAt === undefined)
    throw refuse(
      'The policy counts already, so it cannot begin later: write another policy, or delete this one first.',
    );
  if (endOf(spec) <= at)
    throw refuse(`The policy would end (${spec.expiresAt}) before it begins (${spec.startsAt}): name a later end.`);
  return { ...spec, startsAt: formatWritable(at) };
}

/** @throws MeshError `conflict` where policies would begin at more instants than changes are judged at */
function requireFewBegins(before: NetworkState, after: NetworkState): void {
  const count = beginsOf(after).length;
  if (count <= MAX_BEGINS || count <= beginsOf(before).length) return;
  throw new MeshError(
    'conflict',
    `Policies of a workspace wait for at most ${MAX_BEGINS} different times, and they do already: choose one of these times, or wait until one has passed.`,
  );
}

/** Labels that the control plane sets stay as they are; nobody else writes them. */
function labelsOf(
  asked: Readonly<Record<string, string>>,
  held: Readonly<Record<string, string>>,
  index: number,
): Record<string, string> {
  const reserved = ([key]: readonly [string, string]) => key.startsWith(RESERVED_LABEL_PREFIX);
  const detail = `Labels that begin with ${RESERVED_LABEL_PREFIX} are set by the control plane alone.`;
  const errors = Object.entries(asked)
    .filter((entry) => reserved(entry) && held[entry[0]] !== entry[1])
    .map(([key]) => ({ pointer: `/changes/${index}/labels${jsonPointer([key])}`, detail }));
  if (errors.length > 0) throw invalidInput(errors, detail);
  const own = Object.entries(asked).filter((entry) => !reserved(entry));
  return Object.fromEntries([...own, ...Object.entries(held).filter(reserved)]);
}
