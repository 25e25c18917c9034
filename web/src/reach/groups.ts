import type { components } from '../api/schema.d.ts';
import { reachability as words } from '../texts/reachability.ts';

export type Summary = components['schemas']['GetConnectivitySummaryResponse'];
export type Group = Summary['groups'][number];
export type Cell = Summary['cells'][number];

/** What the address says of groups: `by`, `expand` (a {@link keyOf} group) and `label`. */
export function groupingOf(query: URLSearchParams) {
  const [by, expanded, label] = [query.get('by'), query.get('expand'), query.get('label')];
  const expand = expanded?.replace(/^[a-z]+ ?/, '');
  return { ...(by && { by }), ...(expand !== undefined && { expand }), ...(label && { label }) };
}

/** Tells a group from all others of any summary by the same key. */
export function keyOf({ kind, name }: Pick<Group, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

export function nameOf({ kind, name }: Pick<Group, 'kind' | 'name'>, by: string | null): string {
  if (kind === 'unlabelled') return by === null ? words.everyPeer : words.unlabelled(by);
  if (kind === 'rest') return words.rest;
  if (kind === 'outside') return words.outside;
  return name;
}

export function sizeOf({ kind, peers }: Group): string {
  return kind === 'outside' ? words.ranges(peers) : words.peers(peers);
}

/** How a question names the group; undefined for one that no label names. */
export function termOf({ kind, name }: Group, by: string | null, label: string | null): string | undefined {
  if (kind === 'peer') return name;
  if (kind === 'outside') return 'outside';
  return kind === 'label' && by !== null ? `${by}=${name}${label ? `,${label}` : ''}` : undefined;
}
