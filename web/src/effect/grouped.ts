import type { Effect, EffectRow } from '../api/types.ts';
import { pairsText, rangeText } from '../reach/ports.ts';

export interface EffectLine {
  readonly sources: readonly string[];
  readonly targets: readonly string[];
  /** As `TCP 5432, UDP 53` or `everything`. */
  readonly traffic: string;
}

/** Rows of one pair are one line; sources with the same targets and traffic are named together, as targets are. */
export function groupedRows(rows: readonly EffectRow[]): EffectLine[] {
  const pairs = gathered(rows, ({ src, dst }) => [src, dst], portsOf);
  const targets = gathered(
    pairs,
    ({ key: [src = ''], values }) => [src, trafficOf(values)],
    ({ key: [, dst = ''] }) => dst,
  );
  const sources = gathered(
    targets,
    ({ key: [, traffic = ''], values }) => [JSON.stringify(values), traffic],
    ({ key: [src = ''] }) => src,
  );
  return sources.map(({ key: [names = '[]', traffic = ''], values }) => ({
    sources: values,
    targets: JSON.parse(names) as string[],
    traffic,
  }));
}

function gathered<R>(rows: readonly R[], keyOf: (row: R) => readonly string[], pick: (row: R) => string) {
  const groups = new Map<string, { readonly key: readonly string[]; readonly values: string[] }>();
  for (const row of rows) {
    const key = keyOf(row);
    const text = JSON.stringify(key);
    const group = groups.get(text) ?? { key, values: [] };
    groups.set(text, group);
    group.values.push(pick(row));
  }
  return [...groups.values()];
}

const EVERYTHING = ['ICMP', 'SCTP', 'TCP', 'UDP'];

function trafficOf(ports: readonly string[]): string {
  const isAll = ports.includes('everything') || EVERYTHING.every((protocol) => ports.includes(protocol));
  return isAll ? 'everything' : ports.join(', ');
}

function portsOf({ protocol, from, to }: EffectRow): string {
  const isWhole = from === null || (from === 1 && to === 65_535);
  if (isWhole) return protocol === 'any' ? 'everything' : protocol;
  return rangeText(protocol, from, to);
}

interface Connection {
  readonly change: 'opened' | 'closed';
  readonly src: readonly string[];
  readonly dst: readonly string[];
  readonly ports: string;
}

/**
 * Returns the lines of both sides of an effect.
 *
 * @param connections the effect whole, where it was computed; its rows are the first ones alone
 */
export function linesOf(
  { opened, closed }: Pick<Effect, 'opened' | 'closed'>,
  connections?: readonly Connection[],
): Record<'opens' | 'closes', readonly EffectLine[]> {
  if (!connections) return { opens: groupedRows(opened), closes: groupedRows(closed) };
  const of = (change: 'opened' | 'closed'): EffectLine[] =>
    connections
      .filter((block) => block.change === change)
      .map(({ src, dst, ports }) => ({ sources: src, targets: dst, traffic: ports }));
  return { opens: of('opened'), closes: of('closed') };
}

/** Returns how many of all pairs of one side of an effect its lines do not name. */
export function pairsLeft(lines: readonly EffectLine[], pairs: number): number {
  const named = lines.map(({ sources, targets }) => {
    const others = new Set(targets);
    return sources.length * targets.length - sources.filter((name) => others.has(name)).length;
  });
  return pairs - named.reduce((sum, one) => sum + one, 0);
}

/**
 * Returns what is said of pairs that lines do not name.
 *
 * @param isForReview the change goes to Review, which lists the whole effect by kinds of peers
 */
export function leftText(count: number, isForReview: boolean): string {
  return `and ${pairsText(count)} more${isForReview ? ': Review lists all, by kinds of peers' : ', too many to name here'}`;
}

/** Returns how many pairs of both sides of an effect its first rows do not name. */
export function pairsNotNamed(effect: Effect): number {
  const { opens, closes } = linesOf(effect);
  return (
    pairsLeft(opens, effect.opened_pairs + (effect.opened_outside ?? 0)) +
    pairsLeft(closes, effect.closed_pairs + (effect.closed_outside ?? 0))
  );
}
