import { parseInstant } from '../base/time.ts';
import { RecordMap } from '../model/record-map.ts';
import type { PeerRecord } from '../model/resources.ts';
import { createEngine, type Engine } from '../reachability/engine.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { MAX_WEIGHT, weightOf } from '../reachability/weight.ts';
import { modelOf, networkInputs, peerInputs, policyInputs } from './network-model.ts';
import { decidingState, type NetworkState } from './state.ts';

/** Instants of one state that stay compiled: now, and those ahead at which policies end. */
const MAX_INSTANTS = 48;
/** Weight of those that stay, the one in use apart. */
const MAX_KEPT_WEIGHT = 2 * MAX_WEIGHT;

interface CompiledState extends Pick<NetworkState, 'policies' | 'networks' | 'agents'> {
  /** In force from the first instant until before the second, ms. */
  readonly from: number;
  readonly until: number;
  /** Names of the peers that have an agent. */
  readonly delegated: ReadonlySet<string>;
  readonly reachability: Reachability;
}

/**
 * Compiles states, each once for the time in which nothing expires. States that differ in presence alone share what
 * was compiled, and one that follows another is made from it.
 */
export function buildCompiler(): (state: NetworkState, now: number) => Reachability {
  const engine = createEngine();
  const kept = new WeakMap<NetworkState['peers'], CompiledState[]>();
  /** By line of states: the peers of the one compiled last. */
  const last = new WeakMap<object, NetworkState['peers']>();
  return (whole, now) => {
    const state = decidingState(whole);
    const compiled = kept.get(state.peers) ?? [];
    const known = compiled.find(
      ({ policies, networks, agents, from, until }) =>
        from <= now &&
        now < until &&
        policies === state.policies &&
        networks === state.networks &&
        agents === state.agents,
    );
    if (known) return known.reachability;
    const line = state.peers instanceof RecordMap ? state.peers.line : state.peers;
    const peers = last.get(line) ?? state.peers;
    const entry = advanced(engine, kept.get(peers) ?? [], peers, state, now) ?? compiledWhole(engine, state, now);
    kept.set(state.peers, [entry, ...worthKeeping(compiled, entry)]);
    last.set(line, state.peers);
    return entry.reachability;
  };
}

/**
 * Returns the compiled states to keep: none that keeps alive what the engine has released, and no more than there is room for.
 */
function worthKeeping(compiled: readonly CompiledState[], newest: CompiledState): readonly CompiledState[] {
  const { ports } = newest.reachability.parts;
  const own = compiled.filter(({ reachability }) => reachability.parts.ports === ports);
  // A network whose policies end is no heavier than before, so its weight is not counted for each instant.
  const { reachability } = compiled.at(-1) ?? newest;
  const most = Math.floor(MAX_KEPT_WEIGHT / weightOf(reachability));
  return own.slice(0, Math.min(MAX_INSTANTS - 1, most));
}

function compiledWhole(engine: Engine, state: NetworkState, now: number): CompiledState {
  const { peers, policies, networks, agents } = state;
  const delegated = new Set([...peers.values()].filter(isDelegated).map(({ name }) => name));
  const until = nextEnd([peers, policies, agents], now);
  const reachability = engine.compile(modelOf(state, now));
  return { policies, networks, agents, from: now, until, delegated, reachability };
}

/** From what was compiled of a state before it; undefined where none will do. */
function advanced(
  engine: Engine,
  candidates: readonly CompiledState[],
  before: NetworkState['peers'],
  state: NetworkState,
  now: number,
): CompiledState | undefined {
  const { policies, networks, agents, peers } = state;
  const base = candidates
    .filter((one) => one.networks === networks && one.from <= now)
    .sort((a, b) => Number(b.policies === policies) - Number(a.policies === policies) || b.from - a.from)[0];
  const changed = before === peers ? new Set<string>() : RecordMap.changedNames(before, peers);
  if (base === undefined || changed === undefined) return undefined;
  const hasEnded = now >= base.until;
  const names = new Set(changed);
  if (hasEnded) for (const name of endedBetween(peers, base.from, now)) names.add(name);
  const delegated = delegatedAfter(base.delegated, changed, peers);
  const mayMoveBounds =
    hasEnded || agents !== base.agents || delegated !== base.delegated || touches(changed, delegated);
  if (mayMoveBounds) for (const name of delegated) names.add(name);
  const there = recordsOf(names, peers);
  const inputs = peerInputs(state, there, mayMoveBounds ? recordsOf(delegated, peers) : [], now);
  const reachability = engine.advance(base.reachability, {
    now,
    peers: new Map([...names].map((name) => [name, inputs.get(name)])),
    policies: hasEnded || policies !== base.policies ? policyInputs(state) : undefined,
    networks: networkInputs(state),
    model: () => modelOf(state, now),
  });
  if (reachability === undefined) return undefined;
  const until = hasEnded
    ? nextEnd([peers, policies, agents], now)
    : Math.min(base.until, nextEnd([new Map(there.map((peer) => [peer.name, peer])), ...newOf(base, state)], now));
  return { policies, networks, agents, from: now, until, delegated, reachability };
}

function newOf(base: CompiledState, { policies, agents }: NetworkState): ExpiringRecords[] {
  return [...(policies === base.policies ? [] : [policies]), ...(agents === base.agents ? [] : [agents])];
}

function delegatedAfter(
  before: ReadonlySet<string>,
  changed: Iterable<string>,
  peers: NetworkState['peers'],
): ReadonlySet<string> {
  let after = before;
  for (const name of changed) {
    const peer = peers.get(name);
    const isNow = peer !== undefined && isDelegated(peer);
    if (after.has(name) === isNow) continue;
    after = new Set(after);
    if (isNow) (after as Set<string>).add(name);
    else (after as Set<string>).delete(name);
  }
  return after;
}

function touches(changed: Iterable<string>, delegated: ReadonlySet<string>): boolean {
  for (const name of changed) if (delegated.has(name)) return true;
  return false;
}

function recordsOf(names: Iterable<string>, peers: NetworkState['peers']): PeerRecord[] {
  return [...names].flatMap((name) => peers.get(name) ?? []);
}

function isDelegated({ spec }: PeerRecord): boolean {
  return spec.agentRef !== undefined || spec.delegatedBy !== undefined;
}

type ExpiringRecords = ReadonlyMap<string, { readonly spec: { readonly expiresAt?: string | undefined } }>;

function nextEnd(all: readonly ExpiringRecords[], now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const records of all) {
    for (const { spec } of records.values()) {
      if (spec.expiresAt === undefined) continue;
      const at = parseInstant(spec.expiresAt);
      if (at > now && at < next) next = at;
    }
  }
  return next;
}

function* endedBetween(peers: NetworkState['peers'], from: number, now: number): Generator<string> {
  for (const { name, spec } of peers.values()) {
    if (spec.expiresAt === undefined) continue;
    const at = parseInstant(spec.expiresAt);
    if (at > from && at <= now) yield name;
  }
}
