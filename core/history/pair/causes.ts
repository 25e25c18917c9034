import type { Change } from '../../base/ports.ts';
import type { StoredRecord } from '../../base/record.ts';
import { withRenames } from '../../base/renames.ts';
import { parseInstant } from '../../base/time.ts';
import { isOfKind } from '../../base/written-record.ts';
import type { AgentRecord, PeerRecord } from '../../model/resources.ts';
import { sameValue } from '../../model/value.ts';
import { afterCommit, type NetworkState, recordIn } from '../../state/state.ts';
import { type Moment, type Reading, type ReadingAt, sameReading } from './readings.ts';

/** Causes of a change of a connection. */
export const CAUSES = [
  'policy',
  'label',
  'network',
  'approval',
  'presence',
  'expiry',
  'delegation_bound',
  'address',
  'peer',
] as const;
export type Cause = (typeof CAUSES)[number];

/** A record that changed, or whose time was over, and how it mattered. */
export interface CauseOf {
  readonly cause: Cause;
  readonly kind: string;
  readonly name: string;
}

/** An aspect of one change, as if it were made alone. */
interface Part extends CauseOf {
  readonly change: Change;
}

/**
 * Returns what changed a connection from one moment to the next. Makes each aspect of each change alone on the state before,
 * and returns the aspects that lead to the result. If none does, returns those without which it does not follow, else all.
 */
export function causesOf(before: Moment, after: Moment, judge: ReadingAt): CauseOf[] {
  if (after.changes.length === 0) return endedAt(after);
  const isAfter = (state: NetworkState) => sameReading(judge(state, after.at), after.reading);
  const found = decisiveOf(before.state, after, isAfter);
  const isBound = isBoundAlone(before.reading, after.reading);
  return found.map(({ cause, kind, name }) => ({ cause: isBound ? 'delegation_bound' : cause, kind, name }));
}

/** The same for what a state is asked otherwise. @param isAfter whether the answer in a state is the one that came */
export function decisiveOf(
  before: NetworkState,
  { changes, revision }: Pick<Moment, 'changes' | 'revision'>,
  isAfter: (state: NetworkState) => boolean,
): CauseOf[] {
  const parts = withRenames(changes).flatMap(partsOf);
  return (parts.length > 1 ? decisive(parts, before, revision, isAfter) : parts).map(({ cause, kind, name }) => {
    return { cause, kind, name };
  });
}

function decisive(
  parts: readonly Part[],
  before: NetworkState,
  revision: number,
  isAfter: (state: NetworkState) => boolean,
): readonly Part[] {
  const makes = (made: readonly Part[]) => isAfter(withParts(before, made, revision));
  const alone = parts.filter((part) => makes([part]));
  if (alone.length > 0) return alone;
  const needed = parts.filter((part) => !makes(parts.filter((other) => other !== part)));
  return needed.length > 0 ? needed : parts;
}

/** Records of which several parts are made have all of them, in order. */
function withParts(state: NetworkState, parts: readonly Part[], revision: number): NetworkState {
  return parts.reduce((now, { change }) => {
    const present = recordIn(now, change.record.kind, change.record.name);
    const record =
      change.type === 'updated' && change.before && present
        ? merged(present, change.before, change.record)
        : change.record;
    return afterCommit(now, { revision, changes: [{ ...change, record }] });
  }, state);
}

/** A record with what differs between two others. */
function merged<R extends StoredRecord>(present: R, old: StoredRecord, now: StoredRecord): R {
  return {
    ...present,
    ...(sameValue(old.labels, now.labels) ? {} : { labels: now.labels }),
    spec: mergedFields(present.spec, old.spec, now.spec),
    status: mergedFields(present.status, old.status, now.status),
  };
}

function mergedFields<T extends object>(present: T, old: object, now: object): T {
  const fields = fieldsOf(present);
  const [was, is] = [fieldsOf(old), fieldsOf(now)];
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    if (sameValue(was[name], is[name])) continue;
    if (is[name] === undefined) delete fields[name];
    else fields[name] = is[name];
  }
  return fields as T;
}

const fieldsOf = (value: object): Record<string, unknown> => Object.fromEntries(Object.entries(value));

function partsOf(change: Change): Part[] {
  const { kind, name } = change.record;
  const as = (cause: Cause): Part => ({ cause, kind, name, change });
  switch (kind) {
    case 'MeshPolicy':
      return [as('policy')];
    case 'MeshNetwork':
      return [as('network')];
    case 'Presence':
      return [as('presence')];
    case 'AgentIdentity':
      return [as(hasExpired(change) ? 'expiry' : 'delegation_bound')];
    default:
      return isOfKind(change, 'MeshPeer') && change.type === 'updated' && change.before
        ? peerParts(change, change.before)
        : [as('peer')];
  }
}

/** An update of a peer may give it labels and another address at once: each is weighed alone. */
function peerParts(change: Change<'MeshPeer'>, old: PeerRecord): Part[] {
  const now = change.record;
  const { kind, name } = now;
  const part = (cause: Cause, record: PeerRecord): Part => ({ cause, kind, name, change: { ...change, record } });
  const parts: Part[] = [];
  if (!sameValue(old.labels, now.labels)) parts.push(part('label', { ...old, labels: now.labels }));
  if (old.spec.network !== now.spec.network) {
    parts.push(part('network', { ...old, spec: { ...old.spec, network: now.spec.network } }));
  }
  if (old.status.phase !== now.status.phase) {
    const status = { ...old.status, phase: now.status.phase };
    parts.push(part(now.status.phase === 'expired' ? 'expiry' : 'approval', { ...old, status }));
  }
  if (old.status.address !== now.status.address) {
    parts.push(part('address', { ...old, status: { ...old.status, address: now.status.address } }));
  }
  if (old.spec.expiresAt !== now.spec.expiresAt) {
    const { expiresAt: _, ...spec } = old.spec;
    const { expiresAt } = now.spec;
    parts.push(part('expiry', { ...old, spec: { ...spec, ...(expiresAt !== undefined && { expiresAt }) } }));
  }
  if (old.spec.agentRef !== now.spec.agentRef || old.spec.delegatedBy !== now.spec.delegatedBy) {
    const { agentRef: _, delegatedBy: _by, ...spec } = old.spec;
    const { agentRef, delegatedBy } = now.spec;
    const bound = { ...(agentRef !== undefined && { agentRef }), ...(delegatedBy !== undefined && { delegatedBy }) };
    parts.push(part('delegation_bound', { ...old, spec: { ...spec, ...bound } }));
  }
  // In the state before it has its old name, by which alone it is found there.
  return parts.length > 0 ? parts : [part('peer', { ...now, name: old.name })];
}

function hasExpired(change: Change): boolean {
  if (!isOfKind(change, 'AgentIdentity')) return false;
  const phase = (one: AgentRecord | undefined) => one?.status.phase;
  return phase(change.record) === 'Expired' && phase(change.before) !== 'Expired';
}

/** The records whose time is over in this instant. */
export function endedAt({ state, at }: Pick<Moment, 'state' | 'at'>): CauseOf[] {
  const records: StoredRecord[] = [...state.policies.values(), ...state.peers.values(), ...state.agents.values()];
  return records.flatMap(({ kind, name, spec }) => {
    const { expiresAt } = spec as { readonly expiresAt?: string };
    return expiresAt !== undefined && parseInstant(expiresAt) === at ? [{ cause: 'expiry' as const, kind, name }] : [];
  });
}

/** Returns true if only the bound of a delegated peer differs, and every other stage says the same as before. */
function isBoundAlone(before: Reading, after: Reading): boolean {
  const said = ({ steps }: Reading) =>
    JSON.stringify(
      steps.filter(({ stage }) => stage !== 'delegation_bound').map(({ stage, result }) => [stage, result]),
    );
  const bound = ({ steps }: Reading) => steps.find(({ stage }) => stage === 'delegation_bound')?.result;
  return said(before) === said(after) && bound(before) !== bound(after);
}
