import { getOrInsertComputed } from '../base/get-or-insert.ts';
import type { Endpoints } from './endpoints.ts';

/** Endpoints that have the same row and the same column, save towards each other and their ancestors. */
export interface Unit {
  readonly key: string;
  readonly members: readonly number[];
  readonly external: boolean;
  /** The ancestors that bound the members: towards these, the members have a row of their own. */
  readonly ancestors: readonly number[];
}

/** Groups endpoints by their `unit`, in the order in which each first appears. */
export function buildUnits(endpoints: Endpoints): Unit[] {
  const members = new Map<string, number[]>();
  for (const [place, endpoint] of endpoints.entries()) {
    if (endpoint) getOrInsertComputed(members, endpoint.unit, () => []).push(place);
  }
  return [...members].map(([key, places]) => ({
    key,
    members: places,
    external: endpoints[places[0] ?? 0]?.external ?? false,
    ancestors: ancestorsOf(endpoints, places[0]),
  }));
}

/** The chain of ancestors that bound a place; none for one that takes no part. A cycle ends it. */
export function ancestorsOf(endpoints: Endpoints, place: number | undefined): number[] {
  const chain: number[] = [];
  const self = place === undefined ? undefined : endpoints[place];
  let bound = self?.dead === undefined ? self?.bound : undefined;
  while (bound && 'ancestor' in bound && bound.ancestor !== undefined && !chain.includes(bound.ancestor)) {
    chain.push(bound.ancestor);
    bound = endpoints[bound.ancestor]?.bound;
  }
  return chain;
}
