import { foldName } from '../../core/base/record.ts';
import type { PeerOverRange } from '../../core/history/pair/question-reader.ts';
import { formsOf } from '../grammar/names.ts';

/** Peers that one text means. */
export interface Meaning {
  readonly peers: readonly PeerOverRange[];
  /** `key=value`, where it is a label that they had; `*` for everyone. */
  readonly term?: string;
}

/** Names that peers had in a time range, from the narrowest kind to the widest. */
export interface Called {
  readonly all: readonly PeerOverRange[];
  /** Names, ids and addresses. */
  readonly exact: ReadonlyMap<string, readonly PeerOverRange[]>;
  /** Values of labels: each key that has it is a meaning of its own. */
  readonly values: ReadonlyMap<string, readonly Meaning[]>;
  /** Host names, and names without their number: `db` of `db-1`. */
  readonly loose: ReadonlyMap<string, readonly PeerOverRange[]>;
  /** Words of names: `laptop` of `ana-laptop`. */
  readonly parts: ReadonlyMap<string, readonly PeerOverRange[]>;
  /** By `key=value`. */
  readonly labels: ReadonlyMap<string, Meaning>;
}

/** Indexes the peers of a time range by every name that a question may use for them. */
export function calledIn(peers: readonly PeerOverRange[]): Called {
  const [exact, loose, parts] = [index(), index(), index()];
  const labels = new Map<string, { readonly term: string; readonly peers: PeerOverRange[] }>();
  for (const peer of peers) {
    for (const name of [...peer.names, peer.peer.uid]) put(exact, name, peer);
    for (const name of peer.names) {
      put(loose, withoutNumber(name), peer);
      for (const part of name.split(/[-._]/)) if (/\D/.test(part)) put(parts, part, peer);
    }
    for (const { labels: own, status, spec } of peer.versions) {
      if (status.address !== null) put(exact, status.address, peer);
      put(loose, spec.hostname, peer);
      for (const [key, value] of Object.entries(own)) {
        const term = `${key}=${value}`;
        const label = labels.get(foldName(term)) ?? { term, peers: [] };
        labels.set(foldName(term), label);
        if (label.peers.at(-1) !== peer) label.peers.push(peer);
      }
    }
  }
  const values = new Map<string, Meaning[]>();
  for (const [folded, label] of labels) {
    const value = folded.slice(folded.indexOf('=') + 1);
    const meanings = values.get(value) ?? [];
    values.set(value, meanings);
    if (!meanings.some(({ peers: own }) => isSameSet(own, label.peers))) meanings.push(label);
  }
  return { all: peers, exact, values, loose, parts, labels };
}

const index = () => new Map<string, PeerOverRange[]>();

/** Callers add all names of one peer before those of the next, so a duplicate is always the last entry. */
function put(map: Map<string, PeerOverRange[]>, text: string, peer: PeerOverRange): void {
  const key = foldName(text);
  const known = map.get(key);
  if (key === '' || known?.at(-1) === peer) return;
  if (known) known.push(peer);
  else map.set(key, [peer]);
}

export function isSameSet(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  const others = new Set(b);
  return a.every((one) => others.has(one));
}

/** `db` of `db-1`. */
function withoutNumber(name: string): string {
  let end = name.length;
  while (end > 0 && /\d/.test(name[end - 1] ?? '')) end -= 1;
  if (end < name.length && end > 0 && '-_.'.includes(name[end - 1] ?? '')) end -= 1;
  return name.slice(0, end);
}

/** The peers that a run of words means. */
export interface Found {
  readonly meanings: readonly Meaning[];
  readonly isPlural: boolean;
  /** By its own name, id or address. */
  readonly isExact: boolean;
}

/** Looks words up by the narrowest kind of name; an exact name comes before its plural, singular or synonym. */
export function lookUpWords(words: readonly string[], called: Called): Found | undefined {
  const [hyphened, spaced] = [words.join('-'), words.join(' ')];
  const exact = called.exact.get(hyphened);
  if (exact) return { meanings: [{ peers: exact }], isPlural: false, isExact: true };
  if (words.length === 1 && spaced.includes('=')) {
    const meaning = meaningOf(spaced, called);
    return meaning && { meanings: [meaning], isPlural: true, isExact: false };
  }
  const last = words.at(-1) ?? '';
  for (const form of formsOf(last)) {
    const isPlural = last.endsWith('s') && form !== last && !form.endsWith('s');
    const text = [...words.slice(0, -1), form].join('-');
    const values = called.values.get(text) ?? called.values.get(text.replaceAll('-', ' '));
    if (values) return { meanings: values, isPlural, isExact: false };
    const loose = called.loose.get(text);
    if (loose) return { meanings: [{ peers: loose }], isPlural, isExact: false };
  }
  if (words.length > 1) return undefined;
  for (const form of formsOf(last)) {
    const peers = called.parts.get(form);
    if (peers) return { meanings: [{ peers }], isPlural: last.endsWith('s') && form !== last, isExact: false };
  }
  return undefined;
}

/** `role=web,env=prod`: peers that had both labels. */
function meaningOf(text: string, { labels }: Called): Meaning | undefined {
  const own = text.split(',').map((term) => labels.get(foldName(term)));
  const [first, ...others] = own;
  if (!first || others.includes(undefined)) return undefined;
  return others.reduce((one: Meaning, other) => (other ? both(one, other) : one), first);
}

/** Returns the peers that are in both meanings. */
export function both(a: Meaning, b: Meaning): Meaning {
  const within = new Set(b.peers);
  const terms = [a.term, b.term].filter((term) => term !== undefined && term !== '*');
  const isByLabel = a.term !== undefined && b.term !== undefined;
  return {
    peers: a.peers.filter((peer) => within.has(peer)),
    ...(isByLabel && { term: terms.length > 0 ? terms.join(',') : '*' }),
  };
}
