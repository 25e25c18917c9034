import { createEngine } from '../reachability/engine.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { parseInstant } from '../time.ts';
import { modelOf } from './model.ts';
import type { NetworkState } from './state.ts';

/** Instants of one state that stay compiled: now, and those ahead at which policies end. */
const KEPT_INSTANTS = 48;

interface Compiled extends Pick<NetworkState, 'policies' | 'networks' | 'agents'> {
  /** In force from the first instant until before the second, ms. */
  readonly from: number;
  readonly until: number;
  readonly reachability: Reachability;
}

/**
 * Compiles states, each once for the time in which nothing expires. States that differ in presence alone share what
 * was compiled.
 */
export function buildCompiler(): (state: NetworkState, now: number) => Reachability {
  const engine = createEngine();
  const kept = new WeakMap<NetworkState['peers'], Compiled[]>();
  return (state, now) => {
    const compiled = kept.get(state.peers) ?? [];
    kept.set(state.peers, compiled);
    const known = compiled.find(
      ({ policies, networks, agents, from, until }) =>
        from <= now &&
        now < until &&
        policies === state.policies &&
        networks === state.networks &&
        agents === state.agents,
    );
    if (known) return known.reachability;
    const reachability = engine.compile(modelOf(state, now));
    const { policies, networks, agents } = state;
    compiled.unshift({ policies, networks, agents, from: now, until: nextEnd(state, now), reachability });
    compiled.length = Math.min(compiled.length, KEPT_INSTANTS);
    return reachability;
  };
}

function nextEnd({ peers, policies, agents }: NetworkState, now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const records of [peers, policies, agents]) {
    for (const { spec } of records.values()) {
      if (spec.expiresAt === undefined) continue;
      const at = parseInstant(spec.expiresAt);
      if (at > now && at < next) next = at;
    }
  }
  return next;
}
