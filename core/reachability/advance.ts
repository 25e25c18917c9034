import { getOrInsertComputed } from '../base/get-or-insert.ts';
import { classOfPeer, type EndpointClass } from './endpoint-class.ts';
import { type Bound, type Bounds, boundFor, type Endpoint, endpointOf } from './endpoints.ts';
import { type EngineCache, spaceWith } from './engine-cache.ts';
import type { NetworkInput, NetworkModel, PeerInput, PolicyInput } from './model.ts';
import { type ActivePolicy, activePolicies } from './program.ts';
import { type Projection, projectionOf, tellsAll } from './projection.ts';
import { Reachability } from './reachability.ts';
import { RowTable } from './rows.ts';

/** The difference from one model to the next. */
export interface Step {
  readonly now: number;
  /** Peers that may differ, by name; undefined for one that has gone. Every peer with a bound, if any bound may differ. */
  readonly peers: ReadonlyMap<string, PeerInput | undefined>;
  /** All policies, if any may differ or has ended. */
  readonly policies: readonly PolicyInput[] | undefined;
  readonly networks: readonly NetworkInput[];
  /** The whole model after the step. */
  readonly model: () => NetworkModel;
}

/** Where fewer places than this share are taken, everything is laid out afresh. */
const MIN_LIVE_SHARE = 1 / 2;
const MIN_PLACES = 64;

/** The engine over the model after a step; undefined where classes or bounds change in more than the step names. */
export function advanceWith(kept: EngineCache, previous: Reachability, step: Step): Reachability | undefined {
  const { parts } = previous;
  if (parts.places.size > MIN_PLACES && parts.live < parts.places.size * MIN_LIVE_SHARE) return undefined;
  const policies = step.policies === undefined ? parts.policies : samePolicies(kept, parts.policies, step);
  const codes = policies.map(({ code }) => code);
  const endpoints = parts.endpoints.slice();
  for (const name of step.peers.keys()) makePlace(name, parts.places, endpoints);
  const bounds = boundsAfter(parts.bounds, step.peers, parts.places);
  if (bounds === undefined || !tellsAll(parts.space.projection, projectionOf(codes, []))) return undefined;

  const classes = classesOf(step.peers, parts.space.projection);
  const { space, rows } = spaceWith(kept, parts.space, [...classes.values()]);
  const isSameTable = space === parts.space && policies === parts.policies;
  const table = isSameTable ? parts.table : new RowTable(space, kept.ports, rows, codes, step.networks);

  const moves = movesTo(previous, step, (name, peer) => {
    const index = space.indexOf(classes.get(name)?.signature ?? '') ?? 0;
    return endpointOf(peer, index, bounds.ofPeer.get(name), step.now);
  });
  for (const { place, next } of moves) endpoints[place] = next;
  return new Reachability(
    {
      ...parts,
      model: step.model,
      now: step.now,
      policies,
      space,
      table,
      endpoints,
      bounds,
      live: moves.reduce(
        (live, { old, next }) => live + Number(next !== undefined) - Number(old !== undefined),
        parts.live,
      ),
    },
    membersAfter(previous.members(), space.classes.length, moves),
  );
}

/** The change of the endpoint at one place. */
interface Move {
  readonly place: number;
  readonly old: Endpoint | undefined;
  readonly next: Endpoint | undefined;
}

function movesTo(
  { parts }: Reachability,
  { peers }: Step,
  endpointFor: (name: string, peer: PeerInput) => Endpoint,
): Move[] {
  return [...peers].flatMap(([name, peer]) => {
    const place = parts.places.get(name) ?? 0;
    const old = parts.endpoints[place];
    const next = peer && endpointFor(name, peer);
    return isSameEndpoint(old, next) ? [] : [{ place, old, next }];
  });
}

/** The places of each class; those of a class that nobody left or entered are shared with the state before. */
function membersAfter(
  before: readonly (readonly number[])[],
  classCount: number,
  moves: readonly Move[],
): readonly (readonly number[])[] {
  const members: (readonly number[])[] = Array.from({ length: classCount }, (_, index) => before[index] ?? []);
  const own = new Map<number, number[]>();
  const ownOf = (index: number): number[] => {
    const places = getOrInsertComputed(own, index, () => [...(members[index] ?? [])]);
    members[index] = places;
    return places;
  };
  for (const { place, old, next } of moves) {
    if (old?.classIndex === next?.classIndex) continue;
    if (old) ownOf(old.classIndex).splice(ownOf(old.classIndex).indexOf(place), 1);
    if (next) ownOf(next.classIndex).push(place);
  }
  return members;
}

function samePolicies({ codes }: EngineCache, before: readonly ActivePolicy[], step: Step): readonly ActivePolicy[] {
  const after = activePolicies(codes, step.policies ?? [], step.now);
  const isSame =
    after.length === before.length &&
    after.every(({ name, code }, index) => before[index]?.name === name && before[index].code === code);
  return isSame ? before : after;
}

/** Undefined when a reach is new: its rules may divide classes. */
function boundsAfter(before: Bounds, peers: Step['peers'], places: Map<string, number>): Bounds | undefined {
  const changed = new Map<string, Bound | undefined>();
  for (const [name, peer] of peers) {
    if (peer?.bound === undefined) {
      if (before.ofPeer.has(name)) changed.set(name, undefined);
      continue;
    }
    const bound = boundFor(peer.bound, before.reaches, places);
    if (bound === undefined) return undefined;
    changed.set(name, bound);
  }
  if (changed.size === 0) return before;
  const ofPeer = new Map(before.ofPeer);
  for (const [name, bound] of changed) {
    if (bound === undefined) ofPeer.delete(name);
    else ofPeer.set(name, bound);
  }
  return { ...before, ofPeer };
}

function classesOf(peers: Step['peers'], projection: Projection): Map<string, EndpointClass> {
  const classes = new Map<string, EndpointClass>();
  for (const [name, peer] of peers) if (peer) classes.set(name, classOfPeer(peer, projection));
  return classes;
}

/** Places are given once for a name, in all states that follow each other. */
function makePlace(name: string, places: Map<string, number>, endpoints: (Endpoint | undefined)[]): void {
  const place = places.get(name) ?? places.size;
  places.set(name, place);
  while (endpoints.length <= place) endpoints.push(undefined);
}

function isSameEndpoint(a: Endpoint | undefined, b: Endpoint | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.classIndex === b.classIndex && a.dead === b.dead && a.unit === b.unit && a.network === b.network;
}
