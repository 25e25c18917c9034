import type { EffectKind, EffectKinds } from '../api/types.ts';
import { texts } from '../texts/texts.ts';

interface KindsViewProps {
  readonly kind: 'opens' | 'closes';
  readonly kinds: EffectKinds;
  readonly pairs: number;
  readonly outside: number;
  /** Whether a pair was not there when it was put forward. */
  readonly isNew: (src: string, dst: string) => boolean;
}

/** One side of an effect: by kinds of peers with their counts, the pairs on demand. */
export function KindsView({ kind, kinds, pairs, outside, isNew }: KindsViewProps) {
  const { rows, omitted_rows: omitted, omitted_pairs: omittedPairs } = kinds;
  return (
    <section class={`effect ${kind}`} aria-label={texts.effect[kind]}>
      <h3>
        <span aria-hidden="true">{kind === 'opens' ? '▶' : '▷̸'}</span> {texts.effect[kind]}
        <span class="push">{texts.effect.count(pairs, outside)}</span>
      </h3>
      {rows.length === 0 && <p class="dim">{texts.effect.nothing}</p>}
      <ul>
        {rows.map((row) => (
          <li key={`${row.from} ${row.to} ${row.ports}`}>
            <Kind row={row} isNew={isNew} />
          </li>
        ))}
      </ul>
      {omitted > 0 && <p class="dim small">{texts.review.omitted(omitted, omittedPairs)}</p>}
    </section>
  );
}

/** Pairs that are listed at once. */
const MOST_PAIRS = 60;

function Kind({ row, isNew }: { row: EffectKind; isNew: KindsViewProps['isNew'] }) {
  const { from, to, ports, pairs, src, dst } = row;
  const all = src.flatMap((one) => dst.filter((other) => other !== one).map((other) => [one, other] as const));
  const marked = all.filter(([one, other]) => isNew(one, other)).length;
  return (
    <details class="kind">
      <summary>
        <span class="break">
          {from} <span aria-hidden="true">→</span>
          <span class="visually-hidden">{texts.effect.to}</span> {to}
        </span>
        {marked > 0 && <span class="tag warn">▲ {texts.review.differsMark}</span>}
        <span class="push row">
          <code>{ports}</code>
          <span class="dim small">{texts.review.pairs(pairs)}</span>
        </span>
      </summary>
      <ul class="pairs">
        {all.slice(0, MOST_PAIRS).map(([one, other]) => (
          <li key={`${one} ${other}`} class="break">
            {one} <span aria-hidden="true">→</span>
            <span class="visually-hidden">{texts.effect.to}</span> {other}
            {isNew(one, other) && <span class="tag warn">▲ {texts.review.differsMark}</span>}
          </li>
        ))}
      </ul>
      {pairs > MOST_PAIRS && <p class="dim small">{texts.effect.andMore(pairs - Math.min(MOST_PAIRS, all.length))}</p>}
    </details>
  );
}
