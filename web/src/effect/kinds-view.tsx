import type { Problem } from '../api/problem.ts';
import type { EffectKind, EffectKinds } from '../api/types.ts';
import { Chip } from '../design/chip.tsx';
import { To } from '../design/to.tsx';
import { pairsText } from '../reach/ports.ts';
import { ProblemNotice } from '../ui/problem.tsx';
import { EffectSection, type EffectSide } from './effect-section.tsx';

/** Kinds as far as they were asked for. */
export interface ShownKinds {
  readonly kinds: EffectKinds;
  readonly isActing: boolean;
  readonly problem: Problem | undefined;
  readonly more: () => void;
}

interface Pair {
  readonly src: string;
  readonly dst: string;
}

interface KindsViewProps {
  readonly kind: EffectSide;
  readonly shown: ShownKinds;
  readonly pairs: number;
  readonly outside: number;
  /** Pairs that were not there when it was put forward. */
  readonly differing: readonly Pair[];
}

/** One side of an effect: by kinds of peers with their counts, the pairs on demand. */
export function KindsView({
  kind,
  shown: { kinds, isActing, problem, more },
  pairs,
  outside,
  differing,
}: KindsViewProps) {
  const { rows, omitted_rows: omitted, omitted_pairs: omittedPairs } = kinds;
  return (
    <EffectSection kind={kind} pairs={pairs} outside={outside} isEmpty={rows.length === 0}>
      <ul>
        {rows.map((row, index) => (
          <li key={`${index} ${row.from} ${row.to} ${row.ports}`}>
            <Kind row={row} differing={differing} />
          </li>
        ))}
      </ul>
      {omitted > 0 && (
        <div class="notice warn">
          <span>
            ▲ {omitted} more {omitted === 1 ? 'kind' : 'kinds'} with {pairsText(omittedPairs)} not shown yet.
          </span>
          <ProblemNotice problem={problem} />
          <button type="button" disabled={isActing} onClick={more}>
            Show more
          </button>
        </div>
      )}
    </EffectSection>
  );
}

/** Pairs that are listed at once. */
const MOST_PAIRS = 60;

function Kind({ row, differing }: { row: EffectKind; differing: readonly Pair[] }) {
  const { from, to, ports, pairs, src, dst } = row;
  const [sources, targets] = [new Set(src), new Set(dst)];
  const marked = pairsOnce(differing.filter((pair) => sources.has(pair.src) && targets.has(pair.dst)));
  const listed = firstPairs(src, dst);
  return (
    <details class="kind">
      <summary>
        <span class="break">
          {from} <To /> {to}
        </span>
        {marked.size > 0 && <Chip tone="warn">▲ differs</Chip>}
        <span class="push row">
          <code>{ports}</code>
          <span class="dim small">{pairsText(pairs)}</span>
        </span>
      </summary>
      <ul class="pairs">
        {[...new Map([...marked, ...listed])].slice(0, MOST_PAIRS).map(([key, pair]) => (
          <li key={key} class="break">
            {pair.src} <To /> {pair.dst}
            {marked.has(key) && ' '}
            {marked.has(key) && <Chip tone="warn">▲ differs</Chip>}
          </li>
        ))}
      </ul>
      {pairs > MOST_PAIRS && (
        <>
          <p class="dim small">and {pairs - MOST_PAIRS} more</p>
          <p class="small break">
            Each of {namesText(src, row.src_total)}, to each of {namesText(dst, row.dst_total)}.
          </p>
        </>
      )}
    </details>
  );
}

function namesText(names: readonly string[], total: number): string {
  const told = names.join(', ');
  return total > names.length ? `${told} and ${total - names.length} more` : told;
}

type Keyed = ReadonlyMap<string, Pair>;

function pairsOnce(pairs: readonly Pair[]): Keyed {
  return new Map(pairs.map(({ src, dst }) => [JSON.stringify([src, dst]), { src, dst }]));
}

/** No more than are listed: all of two large kinds would be millions. */
function firstPairs(sources: readonly string[], targets: readonly string[]): Keyed {
  const found: Pair[] = [];
  for (const src of sources) {
    for (const dst of targets) {
      if (found.length >= MOST_PAIRS) return pairsOnce(found);
      if (src !== dst) found.push({ src, dst });
    }
  }
  return pairsOnce(found);
}
