import type { PeerEntry } from '../../core/model/policy.ts';
import { sameValue } from '../../core/model/value.ts';

/** Entries of a rule with one entry for all the peers that are listed by themselves. */
export function joined(entries: readonly PeerEntry[]): PeerEntry[] {
  const ids = [...new Set(entries.flatMap((entry) => listOf(entry) ?? []))];
  const first = entries.findIndex((entry) => listOf(entry) !== undefined);
  return entries.flatMap((entry, index) => {
    if (listOf(entry) === undefined) return [entry];
    return index === first ? [{ peerSelector: { peers: ids } }] : [];
  });
}

/** Those of the entries that are among others; of listed peers, those that the others list. The same ones where all are. */
export function among(entries: readonly PeerEntry[], others: readonly PeerEntry[]): PeerEntry[] {
  return filtered(entries, others, true);
}

/** The entries without others; of listed peers, those that the others do not list. */
export function notAmong(entries: readonly PeerEntry[], others: readonly PeerEntry[]): PeerEntry[] {
  return filtered(entries, others, false);
}

function filtered(entries: readonly PeerEntry[], others: readonly PeerEntry[], isKept: boolean): PeerEntry[] {
  const [own, named] = [entries.flatMap(singled), others.flatMap(singled)];
  const left = own.filter((entry) => named.some((other) => sameValue(entry, other)) === isKept);
  return left.length === own.length ? [...entries] : joined(left);
}

function singled(entry: PeerEntry): PeerEntry[] {
  const ids = listOf(entry);
  return ids?.length ? ids.map((id) => ({ peerSelector: { peers: [id] } })) : [entry];
}

/** The peers of an entry that says nothing but a list of them. */
function listOf(entry: PeerEntry): readonly string[] | undefined {
  if (entry === '*' || entry.peerSelector?.peers === undefined) return undefined;
  const { peers, ...more } = entry.peerSelector;
  return Object.keys(more).length === 0 ? peers : undefined;
}
