import { type FieldError, invalidInput } from '../base/errors.ts';
import { jsonPointer } from '../base/json-pointer.ts';
import { lazily } from '../base/lazily.ts';
import { NameIndex, nearest } from '../base/nearest.ts';
import { MAX_FIELD_ERRORS } from '../base/schema-errors.ts';
import { lookUp, lookUpById } from './find.ts';
import { normalizeName, type PeerRecord } from './resources.ts';
import { indexOfNames } from './with-nearest.ts';

/*
 * The lists of peers in selectors, `peers` and `notPeers`. What is stored are ids: a rename moves nothing, and a newcomer
 * that takes a name inherits nothing. What is shown are names, where the peer exists.
 */

type Peers = ReadonlyMap<string, PeerRecord>;

/** Where the ids of listed peers come from: the peers of a state, or the names of a network that is only described. */
export interface PeerIds {
  idOf(nameOrId: string): string | undefined;
  names(): Iterable<string> | NameIndex;
}

/** The names of a network that is only described, which are its ids. */
export function peerNamesAsIds(names: ReadonlySet<string>): PeerIds {
  return { idOf: (text) => (names.has(text) ? text : undefined), names: lazily(() => new NameIndex(names)) };
}

/** Form of a peer's id. Such a text is never looked up as a name, because nodes choose their names. */
const PEER_ID = /^p_[a-z2-7]{26}$/;

export function readsAsPeerId(text: string): boolean {
  return PEER_ID.test(text);
}

/** An id is taken as it is: that of a peer which has gone means nobody for good, and stays so that it can be seen. */
export function peerIdsOf(peers: Peers): PeerIds {
  return {
    idOf: (text) => (readsAsPeerId(text) ? text : lookUp(peers, text)?.uid),
    names: () => indexOfNames(peers),
  };
}

/**
 * A spec or rules as they are stored: with ids for names.
 *
 * @param at where the value stands in the request.
 * @throws MeshError `invalid_input` with a pointer to each unknown peer and the nearest names.
 */
export function withPeerIds<T>(value: T, ids: PeerIds, at: string): T {
  const { stored, unknown } = resolved(value, ids);
  const errors = pointedAt(at, unknown);
  if (errors.length > 0) throw invalidInput(errors);
  return stored;
}

/** The same errors, not thrown. */
export function unknownPeersAt(value: unknown, ids: PeerIds, at: string): FieldError[] {
  return pointedAt(at, unknownPeers(value, ids));
}

function pointedAt(at: string, unknown: readonly UnknownPeer[]): FieldError[] {
  return unknown.map(({ path, ...said }) => ({ pointer: at + jsonPointer(path), ...said }));
}

interface UnknownPeer {
  readonly path: readonly (string | number)[];
  readonly detail: string;
  /** The same with the nearest names, which are looked up then. */
  readonly offered: () => string | undefined;
}

/** The peers that a spec lists and nobody knows, as many as one refusal names. */
export function unknownPeers(value: unknown, ids: PeerIds): readonly UnknownPeer[] {
  return resolved(value, ids).unknown;
}

function resolved<T>(value: T, ids: PeerIds): { readonly stored: T; readonly unknown: readonly UnknownPeer[] } {
  const unknown: UnknownPeer[] = [];
  const stored = mapLists(value, (list, path) => {
    const found = list.map((text, index) => {
      if (unknown.length >= MAX_FIELD_ERRORS) return text;
      const id = ids.idOf(text);
      if (id === undefined) unknown.push({ path: [...path, index], ...unknownPeer(text, ids) });
      return id ?? text;
    });
    return [...new Set(found)];
  });
  return { stored, unknown };
}

/** A spec, rules or a part of them with the names of the peers that there are. */
export function withPeerNames<T>(value: T, peers: Peers, path: readonly (string | number)[] = []): T {
  return mapLists(value, (list) => list.map((id) => shownName(id, peers)), path);
}

/** Ids that a spec lists and no peer has. */
export function gonePeers(spec: unknown, isThere: (id: string) => boolean): string[] {
  const gone = new Set<string>();
  mapLists(spec, (list) => {
    for (const id of list) if (!isThere(id)) gone.add(id);
    return list;
  });
  return [...gone];
}

/** A name that reads as an id would be taken for that id when it comes back. */
function shownName(id: string, peers: Peers): string {
  const name = lookUpById(peers, id)?.name;
  return name === undefined || readsAsPeerId(name) ? id : name;
}

function unknownPeer(text: string, ids: PeerIds): Omit<UnknownPeer, 'path'> {
  const what = `There is no peer ${JSON.stringify(text)}.`;
  return {
    detail: `${what} ${SEE_PEERS}`,
    offered() {
      const near = nearest(normalizeName(text).toLowerCase(), ids.names()).map((name) => JSON.stringify(name));
      return near.length > 0 ? `${what} Did you mean ${near.join(' or ')}?` : undefined;
    },
  };
}

const SEE_PEERS = 'Write the name or the id of a peer, or select by labels.';

/** @param path where the list stands; it changes as the walk goes on, so who keeps it copies it */
type MapList = (list: readonly string[], path: readonly (string | number)[]) => readonly string[];
type Json = readonly Json[] | { readonly [key: string]: Json } | string | number | boolean | null | undefined;

const LISTS: ReadonlySet<unknown> = new Set(['peers', 'notPeers']);

/** The same value with other lists of peers; the same object where none differs. */
function mapLists<T>(value: T, map: MapList, path: readonly (string | number)[] = []): T {
  return walk(value as Json, map, [...path]) as T;
}

function walk(value: Json, map: MapList, path: (string | number)[]): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const list: readonly Json[] = value;
    if (LISTS.has(path.at(-1)) && list.every((item) => typeof item === 'string')) {
      const next = map(list, path);
      return list.length === next.length && next.every((text, index) => text === list[index]) ? value : next;
    }
    const items = list.map((item, index) => walkAt(index, item, map, path));
    return items.every((item, index) => item === list[index]) ? value : items;
  }
  const entries = Object.entries(value);
  const next = entries.map(([key, item]) => [key, walkAt(key, item, map, path)] as const);
  return next.every(([, item], index) => item === entries[index]?.[1]) ? value : Object.fromEntries(next);
}

function walkAt(key: string | number, value: Json, map: MapList, path: (string | number)[]): Json {
  path.push(key);
  const next = walk(value, map, path);
  path.pop();
  return next;
}
