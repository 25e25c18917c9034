import { createHash } from 'node:crypto';
import type { Effect } from '../intent/effect.ts';
import { spanText } from '../intent/port-spans.ts';
import { textOfRanges } from '../reachability/outside.ts';
import type { Kind } from '../record.ts';
import type { Write } from './writes.ts';

/** Kinds whose records are named anew at each attempt. */
const MADE_UP: ReadonlySet<Kind> = new Set<Kind>(['Token', 'Snapshot']);
/** Records that only follow others. */
const FOLLOWING: ReadonlySet<Kind> = new Set<Kind>(['Presence', 'AddressRest']);

/**
 * Names what a person is shown of a call: the records that it writes, by their identity and not by a name that another
 * may have by then, and what it opens, whichever way policies group its peers. What it closes is not part of it, so that a
 * device which joins meanwhile keeps no peer from being deleted.
 *
 * @returns SHA-256 in hex
 */
export function shownDigest(writes: readonly Write[], { groups, outside }: Pick<Effect, 'groups' | 'outside'>): string {
  const records = writes
    .filter(({ kind }) => !FOLLOWING.has(kind))
    .map(({ type, kind, name, before }) => `${type} ${kind} ${before?.uid ?? (MADE_UP.has(kind) ? '' : name)}`);
  const rows = groups
    .filter(({ opened }) => opened.length > 0)
    .flatMap(({ src, dst, opened }) => {
      const ports = spanText(opened);
      return src.flatMap((from) => dst.flatMap((to) => (from === to ? [] : [`${from} ${to} ${ports}`])));
    });
  const addresses = (outside ?? [])
    .filter(({ opened }) => opened.length > 0)
    .flatMap(({ side, ranges, peers, opened }) => {
      const rest = `${side} ${textOfRanges(ranges)} ${spanText(opened)}`;
      return peers.map((peer) => `${peer} ${rest}`);
    });
  return createHash('sha256')
    .update([...records.sort(), ...rows.sort(), ...addresses.sort(), ...(outside ? [] : ['unknown'])].join('\n'))
    .digest('hex');
}
