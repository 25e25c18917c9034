import type { Change } from './change.ts';

type Resource = Change['resources'][number];

/** Changes of the same kind in a row, as of a fleet that joins; the newest first. */
export interface Burst {
  readonly what: string;
  readonly changes: readonly [Change, ...Change[]];
}

/** A day in the viewer's zone. */
export interface Day {
  readonly at: string;
  readonly count: number;
  readonly rows: readonly (Change | Burst)[];
}

/** Fewer in a row stay rows of their own. */
const FEWEST = 3;

const NOUNS: Readonly<Record<Resource['kind'], string>> = {
  MeshPeer: 'peers',
  MeshPolicy: 'policies',
  MeshNetwork: 'networks',
  AgentIdentity: 'agents',
};
const VERBS: Readonly<Record<Resource['type'], string>> = {
  created: 'created',
  updated: 'changed',
  deleted: 'deleted',
  ended: 'ended',
};

/**
 * Returns changes, the newest first, by days, with bursts folded.
 *
 * @param dayOf the day of an instant in the viewer's zone
 */
export function daysOf(changes: readonly Change[], dayOf: (at: string) => string): readonly Day[] {
  const days: Day[] = [];
  for (const group of inRow(changes, ({ at }) => dayOf(at))) {
    const rows = inRow(group, burstKey).flatMap((same): readonly (Change | Burst)[] =>
      same.length < FEWEST || burstKey(same[0]) === undefined ? same : [{ what: burstText(same), changes: same }],
    );
    days.push({ at: group[0].at, count: group.length, rows });
  }
  return days;
}

/** Neighbors with the same key; one without a key has no neighbors. */
function inRow<T>(all: readonly T[], keyOf: (one: T) => string | undefined): [T, ...T[]][] {
  const groups: [T, ...T[]][] = [];
  let last: string | undefined;
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.at(-1);
    if (group && key !== undefined && key === last) group.push(one);
    else groups.push([one]);
    last = key;
  }
  return groups;
}

function burstKey({ resources, workflow_id: workflow }: Change): string | undefined {
  const [first, ...rest] = resources;
  return first && rest.length === 0 && workflow === null ? `${first.kind} ${first.type}` : undefined;
}

function burstText(changes: readonly [Change, ...Change[]]): string {
  const [first] = changes[0].resources;
  if (!first) return '';
  const { kind, type } = first;
  const verb = kind === 'MeshPeer' && type === 'created' ? 'joined' : VERBS[type];
  return `${changes.length} ${NOUNS[kind]} ${verb}`;
}
