import type { Effect, Preview } from '../api/types.ts';
import { To } from '../design/to.tsx';
import { EffectSection, type EffectSide } from './effect-section.tsx';
import { type EffectLine, leftText, linesOf, pairsLeft } from './grouped.ts';
import { Names } from './names.tsx';

interface EffectProps {
  readonly effect: Effect;
  readonly connections?: Preview['connections'];
  readonly isForReview?: boolean;
}

/**
 * What a change has nodes route, opens and closes: route changes, counts, then lines of names, then the pairs on demand.
 *
 * @param connections the effect whole, where it was computed; its rows are the first ones alone
 * @param isForReview the change is a plan that goes to Review
 */
export function EffectView({ effect, connections, isForReview = false }: EffectProps) {
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
      <Side
        kind="opens"
        lines={opens}
        pairs={effect.opened_pairs}
        outside={effect.opened_outside ?? 0}
        isForReview={isForReview}
      />
      <Side
        kind="closes"
        lines={closes}
        pairs={effect.closed_pairs}
        outside={effect.closed_outside ?? 0}
        isForReview={isForReview}
      />
      <p class="dim small">{unchanged} pairs unchanged.</p>
    </div>
  );
}

interface SideProps {
  readonly kind: EffectSide;
  readonly lines: readonly EffectLine[];
  readonly pairs: number;
  readonly outside: number;
  readonly isForReview: boolean;
}

function Side({ kind, lines, pairs, outside, isForReview }: SideProps) {
  const left = pairsLeft(lines, pairs + outside);
  return (
    <EffectSection kind={kind} pairs={pairs} outside={outside} isEmpty={lines.length === 0}>
      <ul>
        {lines.map((line) => (
          <EffectLineItem key={JSON.stringify(line)} line={line} />
        ))}
        {left > 0 && <li>{leftText(left, isForReview)}</li>}
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
