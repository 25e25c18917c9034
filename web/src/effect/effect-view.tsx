import type { Effect, Preview } from '../api/types.ts';
import { To } from '../design/to.tsx';
import { pairsText } from '../reach/ports.ts';
import { EffectSection, type EffectSide } from './effect-section.tsx';
import { type EffectLine, linesOf, pairsLeft } from './grouped.ts';
import { Names } from './names.tsx';

/**
 * What a change has nodes route, opens and closes: route changes, counts, then lines of names, then the pairs on demand.
 *
 * @param connections the effect whole, where it was computed; its rows are the first ones alone
 */
export function EffectView({ effect, connections }: { effect: Effect; connections?: Preview['connections'] }) {
  const { routes = [], unchanged_count: unchanged } = effect;
  const { opens, closes } = linesOf(effect, connections);
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
      <p class="dim small">{unchanged} pairs unchanged.</p>
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
  const left = pairsLeft(lines, pairs + outside);
  return (
    <EffectSection kind={kind} pairs={pairs} outside={outside} isEmpty={lines.length === 0}>
      <ul>
        {lines.map((line) => (
          <EffectLineItem key={JSON.stringify(line)} line={line} />
        ))}
        {left > 0 && <li>and {pairsText(left)} more, too many to name here</li>}
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
