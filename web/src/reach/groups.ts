import type { components } from '../api/schema.d.ts';

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

/** The group that a key of {@link keyOf} tells. */
export function groupOf(key: string): Pick<Group, 'kind' | 'name'> {
  const [kind = '', ...name] = key.split(' ');
  return { kind: kind as Group['kind'], name: name.join(' ') };
}

export function nameOf({ kind, name }: Pick<Group, 'kind' | 'name'>, by: string | null): string {
  if (kind === 'unlabelled') return by === null ? 'every peer' : `without ${by}`;
  if (kind === 'rest') return 'other groups';
  if (kind === 'outside') return 'outside';
  return name;
}

export function sizeOf({ kind, peers }: Group): string {
  return kind === 'outside'
    ? `${peers} ${peers === 1 ? 'range' : 'ranges'}`
    : `${peers} ${peers === 1 ? 'peer' : 'peers'}`;
}

/** How a question names the group; undefined for one that no label names. */
export function termOf({ kind, name }: Group, by: string | null, label: string | null): string | undefined {
  if (kind === 'peer') return name;
  if (kind === 'outside') return 'outside';
  return kind === 'label' && by !== null ? `${by}=${name}${label ? `,${label}` : ''}` : undefined;
}
