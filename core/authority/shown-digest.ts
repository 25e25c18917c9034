import { createHash } from 'node:crypto';
import { ordered } from '../base/ordered.ts';
import type { Kind } from '../base/record.ts';
import { spanText } from '../effect/port-spans.ts';
import { decidedFields } from '../model/grants.ts';
import { textOfRanges } from '../reachability/outside.ts';
import type { NetworkState } from '../state/state.ts';
import type { Future } from './future.ts';
import type { Comparison } from './state-after.ts';
import type { Write } from './writes.ts';

/** Kinds whose records are named anew at each attempt. */
const MADE_UP: ReadonlySet<Kind> = new Set<Kind>([
  'Token',
  'Snapshot',
  'Assessment',
  'AssessmentPage',
  'ComplianceDrift',
]);
/** Records that only follow others. */
const FOLLOWING: ReadonlySet<Kind> = new Set<Kind>(['Presence', 'AddressRest', 'Plan', 'Workflow']);

/**
 * Names what a person is shown of a call: the records that it writes with what is decided in them, and what it opens,
 * now, later and for devices that join later, whichever way policies group its peers. Records are known by their identity:
 * another may have their name by then. What it closes is not part of it, so that a device which joins meanwhile keeps no peer
 * from being deleted; nor are tokens, plans and requests that end with another record, so that nobody who is to go keeps that
 * from being done by making more of them.
 *
 * @returns SHA-256 in hex
 */
export function shownDigest(
  writes: readonly Write[],
  { before, after, effect: { groups, outside } }: Pick<Comparison, 'before' | 'after' | 'effect'>,
  { opened: { digest: later } }: Pick<Future, 'opened'>,
): string {
  const idOf = (name: string) => uidIn(after, name) ?? uidIn(before, name) ?? name;
  const records = decidedOf(writes).map(({ type, kind, name, before: old, after: draft }) => {
    const who = old?.uid ?? (MADE_UP.has(kind) ? '' : name);
    return `${type} ${kind} ${who} ${JSON.stringify(draft ? ordered(decidedFields(draft)) : null)}`;
  });
  const rows = groups
    .filter(({ opened }) => opened.length > 0)
    .flatMap(({ src, dst, opened }) => {
      const ports = spanText(opened);
      const to = dst.map(idOf);
      return src.map(idOf).flatMap((from) => to.flatMap((one) => (from === one ? [] : [`${from} ${one} ${ports}`])));
    });
  const addresses = (outside ?? [])
    .filter(({ opened }) => opened.length > 0)
    .flatMap(({ side, ranges, peers, opened }) => {
      const rest = `${side} ${textOfRanges(ranges)} ${spanText(opened)}`;
      return peers.map((peer) => `${idOf(peer)} ${rest}`);
    });
  return createHash('sha256')
    .update([...records.sort(), ...rows.sort(), ...addresses.sort(), ...(outside ? [] : ['unknown']), later].join('\n'))
    .digest('hex');
}

function decidedOf(writes: readonly Write[]): readonly Write[] {
  const own = writes.filter(({ kind }) => !FOLLOWING.has(kind));
  const lasting = own.filter(({ type, kind }) => !(type === 'deleted' && kind === 'Token'));
  return lasting.length > 0 ? lasting : own;
}

function uidIn({ peers }: NetworkState, name: string): string | undefined {
  return peers.get(name)?.uid;
}
