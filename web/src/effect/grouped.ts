import type { EffectRow, Preview } from '../api/types.ts';
import { rangeText } from '../reach/ports.ts';

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

export interface Connections {
  readonly blocks: Preview['connections'];
  /** Blocks left out. */
  readonly omitted: number;
}

/** The lines of an effect that came whole. */
export function wholeLines({ blocks, omitted }: Connections) {
  const of = (change: 'opened' | 'closed'): EffectLine[] =>
    blocks
      .filter((block) => block.change === change)
      .map(({ src, dst, ports }) => ({ sources: src, targets: dst, traffic: ports }));
  return { lines: { opened: of('opened'), closed: of('closed') }, left: omitted };
}
