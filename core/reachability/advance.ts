import { classOfPeer, type EndpointClass, type Projection, projectionOf, tellsGroups } from './classes.ts';
import { type Bound, type Bounds, boundFor, type Endpoint, endpointOf } from './endpoints.ts';
import { type Kept, spaceWith } from './kept.ts';
import type { NetworkInput, NetworkModel, PeerInput, PolicyInput } from './model.ts';
import { type ActivePolicy, activePolicies } from './program.ts';
import { Reachability } from './reachability.ts';
import { RowTable } from './rows.ts';

/** What leads from one model to the next. */
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
const MIN_PLACES = 1_000;

/** The engine over the model after a step; undefined where classes or bounds change in more than the step names. */
export function advanceWith(kept: Kept, previous: Reachability, step: Step): Reachability | undefined {
  const { parts } = previous;
  if (parts.places.size > MIN_PLACES && parts.live < parts.places.size * MIN_LIVE_SHARE) return undefined;
  const policies = step.policies === undefined ? parts.policies : samePolicies(kept, parts.policies, step);
  const endpoints = parts.endpoints.slice();
  for (const name of step.peers.keys()) makePlace(name, parts.places, endpoints);
  const bounds = boundsAfter(parts.bounds, step.peers, parts.places);
  if (bounds === undefined || !tells(parts.space.projection, policies)) return undefined;

  const classes = classesOf(step.peers, parts.space.projection);
  const { space, rows } = spaceWith(kept, parts.space, [...classes.values()]);
  const isSameTable = space === parts.space && policies === parts.policies;
  const codes = policies.map(({ code }) => code);
  const table = isSameTable ? parts.table : new RowTable(space, kept.ports, rows, codes, step.networks);

  const members = [...previous.members(), ...space.classes.slice(parts.space.classes.length).map((): number[] => [])];
  let live = parts.live;
  const opened = new Set<number>();
  const membersOf = (index: number): number[] => {
    const own = opened.has(index) ? (members[index] as number[]) : [...(members[index] ?? [])];
    opened.add(index);
    members[index] = own;
    return own;
  };
  for (const [name, peer] of step.peers) {
    const place = parts.places.get(name) ?? 0;
    const old = endpoints[place];
    const index = space.indexOf(classes.get(name)?.signature ?? '') ?? 0;
    const next = peer && endpointOf(peer, index, bounds.ofPeer.get(name), step.now);
    if (isSameEndpoint(old, next)) continue;
    endpoints[place] = next;
    live += Number(next !== undefined) - Number(old !== undefined);
    if (old?.classIndex === next?.classIndex) continue;
    if (old) membersOf(old.classIndex).splice(membersOf(old.classIndex).indexOf(place), 1);
    if (next) membersOf(next.classIndex).push(place);
  }
  return new Reachability(
    { ...parts, model: step.model, now: step.now, policies, space, table, endpoints, bounds, live },
    members,
  );
}

function samePolicies({ codes }: Kept, before: readonly ActivePolicy[], step: Step): readonly ActivePolicy[] {
  const after = activePolicies(codes, step.policies ?? [], step.now);
  const isSame =
    after.length === before.length &&
    after.every(({ name, code }, index) => before[index]?.name === name && before[index].code === code);
  return isSame ? before : after;
}

/** Whether a projection tells apart all that policies name; it may tell more. */
function tells(projection: Projection, policies: readonly ActivePolicy[]): boolean {
  const named = projectionOf(
    policies.map(({ code }) => code),
    [],
  );
  const edges = new Set(projection.edges);
  const values = new Map(projection.labels.map((label) => [label.key, label.values]));
  return (
    tellsGroups(projection, named) &&
    named.edges.every((edge) => edges.has(edge)) &&
    named.labels.every((label) => {
      const known = values.get(label.key);
      return known !== undefined && [...label.values.keys()].every((value) => known.has(value));
    })
  );
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
