import { advanceWith, type Step } from './advance.ts';
import { classOfExternal, classOfPeer } from './endpoint-class.ts';
import { boundsOf, endpointsOf } from './endpoints.ts';
import { type EngineCache, emptyCache, isFull, spaceFor } from './engine-cache.ts';
import type { NetworkModel } from './model.ts';
import { activePolicies } from './program.ts';
import { projectionOf } from './projection.ts';
import { Reachability } from './reachability.ts';
import { RowTable } from './rows.ts';

/** Compiles models, sharing what consecutive ones have in common. */
export interface Engine {
  compile(model: NetworkModel): Reachability;
  /**
   * The same for a model that differs from an earlier one of this engine in a few peers or policies, at a cost that
   * follows what differs. @returns undefined where only the whole model will do
   */
  advance(previous: Reachability, step: Step): Reachability | undefined;
}

/**
 * An engine with its own bounded memory. States that differ in presence only share all rows; after an edit of one
 * policy only the rows of the classes it selects are computed again.
 */
export function createEngine(): Engine {
  let kept = emptyCache();
  return {
    compile(model) {
      if (isFull(kept)) kept = emptyCache();
      return compileWith(kept, model);
    },
    advance(previous, step) {
      return previous.parts.ports === kept.ports && !isFull(kept) ? advanceWith(kept, previous, step) : undefined;
    },
  };
}

/** Compiles one model on its own. */
export function compile(model: NetworkModel): Reachability {
  return createEngine().compile(model);
}

function compileWith(kept: EngineCache, model: NetworkModel): Reachability {
  const { ports, codes } = kept;
  const active = activePolicies(codes, model.policies, model.now);
  const policies = active.map(({ code }) => code);
  const bounds = boundsOf(model, codes);
  const projection = projectionOf(policies, bounds.rules);
  const classes = [
    ...model.peers.map((peer) => classOfPeer(peer, projection)),
    ...(model.externals ?? []).map((external) => classOfExternal(external, projection)),
  ];
  const { space, rows } = spaceFor(kept, projection, classes);
  const table = new RowTable(space, ports, rows, policies, model.networks);
  const endpoints = endpointsOf(
    model,
    classes.map(({ signature }) => space.indexOf(signature) ?? 0),
    bounds,
  );
  const places = new Map(endpoints.map(({ name }, place) => [name, place]));
  const { now } = model;
  const live = endpoints.length;
  const known = { space, ports, table, endpoints, places, bounds, live };
  return new Reachability({ model: () => model, now, policies: active, ...known });
}
