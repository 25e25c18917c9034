import type { Problem } from '../api/problem.ts';
import type { EffectKind, EffectKinds } from '../api/types.ts';
import { texts } from '../texts/texts.ts';
import { ProblemNotice } from '../ui/problem.tsx';

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
  readonly kind: 'opens' | 'closes';
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
    <section class={`effect ${kind}`} aria-label={texts.effect[kind]}>
      <h3>
        <span aria-hidden="true">{kind === 'opens' ? '▶' : '▷̸'}</span> {texts.effect[kind]}
        <span class="push">{texts.effect.count(pairs, outside)}</span>
      </h3>
      {rows.length === 0 && <p class="dim">{texts.effect.nothing}</p>}
      <ul>
        {rows.map((row, index) => (
          <li key={`${index} ${row.from} ${row.to} ${row.ports}`}>
            <Kind row={row} differing={differing} />
          </li>
        ))}
      </ul>
      {omitted > 0 && (
        <div class="notice warn">
          <span>▲ {texts.review.omitted(omitted, omittedPairs)}</span>
          <ProblemNotice problem={problem} />
          <button type="button" disabled={isActing} onClick={more}>
            {texts.review.showKinds}
          </button>
        </div>
      )}
    </section>
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
          {from} <span aria-hidden="true">→</span>
          <span class="visually-hidden">{texts.effect.to}</span> {to}
        </span>
        {marked.size > 0 && <span class="tag warn">▲ {texts.review.differsMark}</span>}
        <span class="push row">
          <code>{ports}</code>
          <span class="dim small">{texts.review.pairs(pairs)}</span>
        </span>
      </summary>
      <ul class="pairs">
        {[...new Map([...marked, ...listed])].slice(0, MOST_PAIRS).map(([key, pair]) => (
          <li key={key} class="break">
            {pair.src} <span aria-hidden="true">→</span>
            <span class="visually-hidden">{texts.effect.to}</span> {pair.dst}
            {marked.has(key) && ' '}
            {marked.has(key) && <span class="tag warn">▲ {texts.review.differsMark}</span>}
          </li>
        ))}
      </ul>
      {pairs > MOST_PAIRS && (
        <>
          <p class="dim small">{texts.effect.andMore(pairs - MOST_PAIRS)}</p>
          <p class="small break">{texts.review.names(namesText(src, row.src_total), namesText(dst, row.dst_total))}</p>
        </>
      )}
    </details>
  );
}

function namesText(names: readonly string[], total: number): string {
  const told = names.join(', ');
  return total > names.length ? `${told} ${texts.effect.andMore(total - names.length)}` : told;
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
