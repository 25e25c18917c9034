import type { Effect, EffectRow } from '../api/types.ts';
import { texts } from '../texts/texts.ts';
import { type EffectLine, groupedRows } from './grouped.ts';
import { Names } from './names.tsx';

/** What a change opens and closes: counts, then lines of names, then the pairs on demand. */
export function EffectView({ effect }: { effect: Effect }) {
  const { opened, closed, omitted, unchanged_count: unchanged } = effect;
  return (
    <div class="stack">
      <Side kind="opens" rows={opened} pairs={effect.opened_pairs} outside={effect.opened_outside ?? 0} />
      <Side kind="closes" rows={closed} pairs={effect.closed_pairs} outside={effect.closed_outside ?? 0} />
      <p class="dim small">{texts.effect.unchanged(unchanged, omitted)}</p>
    </div>
  );
}

interface SideProps {
  readonly kind: 'opens' | 'closes';
  readonly rows: readonly EffectRow[];
  readonly pairs: number;
  readonly outside: number;
}

function Side({ kind, rows, pairs, outside }: SideProps) {
  const lines = groupedRows(rows);
  return (
    <section class={`effect ${kind}`} aria-label={texts.effect[kind]}>
      <h3>
        <span aria-hidden="true">{kind === 'opens' ? '▶' : '▷̸'}</span> {texts.effect[kind]}
        <span class="push">{texts.effect.count(pairs, outside)}</span>
      </h3>
      {lines.length === 0 && <p class="dim">{texts.effect.nothing}</p>}
      <ul>
        {lines.map((line) => (
          <Line key={JSON.stringify(line)} line={line} />
        ))}
      </ul>
    </section>
  );
}

function Line({ line: { sources, targets, traffic } }: { line: EffectLine }) {
  return (
    <li>
      <span>
        <Names names={sources} /> <span aria-hidden="true">→</span>
        <span class="visually-hidden">{texts.effect.to}</span> <Names names={targets} />
      </span>
      <code class="push">{traffic}</code>
    </li>
  );
}
