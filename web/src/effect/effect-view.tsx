import type { Effect } from '../api/types.ts';
import { texts } from '../texts/texts.ts';
import { type Connections, type EffectLine, groupedRows, wholeLines } from './grouped.ts';
import { Names } from './names.tsx';

/**
 * What a change has nodes route, opens and closes: route changes, counts, then lines of names, then the pairs on demand.
 *
 * @param connections the effect whole, where it was computed; its rows are the first ones alone
 */
export function EffectView({ effect, connections }: { effect: Effect; connections?: Connections }) {
  const { routes = [], opened, closed, omitted, unchanged_count: unchanged } = effect;
  const { lines, left } = connections ? wholeLines(connections) : { lines: undefined, left: omitted };
  const opens = lines?.opened ?? groupedRows(opened);
  const closes = lines?.closed ?? groupedRows(closed);
  return (
    <div class="stack">
      {routes.length > 0 && (
        <section class="effect" aria-label={texts.effect.routes}>
          <h3>{texts.effect.routes}</h3>
          <ul>
            {routes.map(({ text }) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </section>
      )}
      <Side kind="opens" lines={opens} pairs={effect.opened_pairs} outside={effect.opened_outside ?? 0} />
      <Side kind="closes" lines={closes} pairs={effect.closed_pairs} outside={effect.closed_outside ?? 0} />
      <p class="dim small">{texts.effect.unchanged(unchanged, left)}</p>
    </div>
  );
}

interface SideProps {
  readonly kind: 'opens' | 'closes';
  readonly lines: readonly EffectLine[];
  readonly pairs: number;
  readonly outside: number;
}

function Side({ kind, lines, pairs, outside }: SideProps) {
  return (
    <section class={`effect ${kind}`} aria-label={texts.effect[kind]}>
      <h3>
        <span aria-hidden="true">{kind === 'opens' ? '▶' : '▷̸'}</span> {texts.effect[kind]}
        <span class="push">{texts.effect.count(pairs, outside)}</span>
      </h3>
      {lines.length === 0 && <p class="dim">{texts.effect.nothing}</p>}
      <ul>
        {lines.map((line) => (
          <EffectLineItem key={JSON.stringify(line)} line={line} />
        ))}
      </ul>
    </section>
  );
}

/** Who, whom, and on which ports. */
export function EffectLineItem({ line: { sources, targets, traffic } }: { line: EffectLine }) {
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
