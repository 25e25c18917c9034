import {
  ClassSpace,
  classOfExternal,
  classOfPeer,
  type EndpointClass,
  type Projection,
  projectionOf,
} from './classes.ts';
import { boundsOf, endpointsOf } from './endpoints.ts';
import type { NetworkModel } from './model.ts';
import { PortSets } from './port-sets.ts';
import { PolicyCodes } from './program.ts';
import { Reachability } from './reachability.ts';
import { type RowCache, RowTable } from './rows.ts';

/** Class spaces kept: a state, the one before it, and a few of a search through history. */
const MAX_SPACES = 8;
/** Rows kept for a space, beyond one a class and direction. */
const SPARE_ROWS = 1_000;
/** Interned policies and port sets at which everything kept is dropped. */
const MAX_INTERNED = 500_000;

/** Compiles models, sharing what consecutive ones have in common. */
export interface Engine {
  compile(model: NetworkModel): Reachability;
}

interface Kept {
  readonly ports: PortSets;
  readonly codes: PolicyCodes;
  readonly spaces: { readonly space: ClassSpace; readonly rows: RowCache }[];
}

/**
 * An engine with its own bounded memory. States that differ in presence only share all rows; after an edit of one
 * policy only the rows of the classes it selects are computed again.
 */
export function createEngine(): Engine {
  let kept = keepNothing();
  return {
    compile(model) {
      if (kept.ports.size + kept.codes.size > MAX_INTERNED) kept = keepNothing();
      return compileWith(kept, model);
    },
  };
}

/** Compiles one model on its own. */
export function compile(model: NetworkModel): Reachability {
  return createEngine().compile(model);
}

function keepNothing(): Kept {
  const ports = new PortSets();
  return { ports, codes: new PolicyCodes(ports), spaces: [] };
}

function compileWith({ ports, codes, spaces }: Kept, model: NetworkModel): Reachability {
  const active = model.policies
    .map(({ name, spec }) => ({ name, spec, code: codes.of(spec) }))
    // An expiry that cannot be read never takes effect for a DENY and is past for an ALLOW (NaN compares false).
    .filter(({ code }) => (code.allow ? code.expiresAt > model.now : !(code.expiresAt <= model.now)));
  const policies = active.map(({ code }) => code);
  const bounds = boundsOf(model, codes);
  const projection = projectionOf(policies, bounds.rules);
  const classes = [
    ...model.peers.map((peer) => classOfPeer(peer, projection)),
    ...(model.externals ?? []).map((external) => classOfExternal(external, projection)),
  ];
  const { space, rows } = spaceFor(spaces, projection, classes);
  const table = new RowTable(space, ports, rows, policies, model.networks);
  const endpoints = endpointsOf(
    model,
    classes.map(({ signature }) => space.indexOf(signature) ?? 0),
    bounds,
  );
  return new Reachability({ model, policies: active, space, ports, table, endpoints });
}

function spaceFor(
  spaces: Kept['spaces'],
  projection: Projection,
  classes: readonly EndpointClass[],
): Kept['spaces'][number] {
  const known = spaces.findIndex(
    ({ space }) =>
      space.projection.key === projection.key &&
      classes.every(({ signature }) => space.indexOf(signature) !== undefined),
  );
  const [found] = known < 0 ? [] : spaces.splice(known, 1);
  const entry = found ?? { space: new ClassSpace(projection, distinct(classes)), rows: new Map() };
  if (entry.rows.size > 2 * entry.space.classes.length + SPARE_ROWS) entry.rows.clear();
  spaces.unshift(entry);
  spaces.length = Math.min(spaces.length, MAX_SPACES);
  return entry;
}

function distinct(classes: readonly EndpointClass[]): EndpointClass[] {
  return [...new Map(classes.map((one) => [one.signature, one])).values()];
}
