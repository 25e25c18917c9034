import type { Effect } from '../api/types.ts';
import { To } from '../design/to.tsx';
import { EffectSection, type EffectSide } from './effect-section.tsx';
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
        <section class="effect" aria-label="Routes">
          <h3>Routes</h3>
          <ul>
            {routes.map(({ text }) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </section>
      )}
      <Side kind="opens" lines={opens} pairs={effect.opened_pairs} outside={effect.opened_outside ?? 0} />
      <Side kind="closes" lines={closes} pairs={effect.closed_pairs} outside={effect.closed_outside ?? 0} />
      <p class="dim small">
        {unchanged} pairs unchanged.{left > 0 ? ` ${left} rows not shown.` : ''}
      </p>
    </div>
  );
}

interface SideProps {
  readonly kind: EffectSide;
  readonly lines: readonly EffectLine[];
  readonly pairs: number;
  readonly outside: number;
}

function Side({ kind, lines, pairs, outside }: SideProps) {
  return (
    <EffectSection kind={kind} pairs={pairs} outside={outside} isEmpty={lines.length === 0}>
      <ul>
        {lines.map((line) => (
          <EffectLineItem key={JSON.stringify(line)} line={line} />
        ))}
      </ul>
    </EffectSection>
  );
}

/** Who, whom, and on which ports. */
export function EffectLineItem({ line: { sources, targets, traffic } }: { line: EffectLine }) {
  return (
    <li>
      <span>
        <Names names={sources} /> <To /> <Names names={targets} />
      </span>
      <code class="push">{traffic}</code>
    </li>
  );
}
