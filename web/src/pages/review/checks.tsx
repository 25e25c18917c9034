import type { Drawing } from '../../api/types.ts';
import { linkTo } from '../../route/route.ts';
import { FRAMEWORK_NAMES } from '../../texts/frameworks.ts';
import { review as words } from '../../texts/review.ts';

type Assertion = Drawing['assertions'][number];

/** What must hold of the network, and how it stands after the change: assertions, and controls of frameworks. */
export function Checks({ drawing: { assertions, controls, controls_standing: standing } }: { drawing: Drawing }) {
  const holding = assertions.filter(({ holds }) => holds).length;
  const shown = assertions.filter(({ touched, holds }) => touched || !holds);
  const byFramework = [...Map.groupBy(standing, ({ framework }) => framework)];
  return (
    <section class="stack-small" aria-label={words.checks}>
      <h3>{words.checks}</h3>
      {assertions.length === 0 ? (
        <p class="dim">{words.noAssertions}</p>
      ) : (
        <p>
          <Mark isGood={holding === assertions.length} /> {words.assertions(holding, assertions.length)}
        </p>
      )}
      {shown.length > 0 && (
        <ul class="stack-small inset">
          {shown.map((assertion) => (
            <AssertionLine key={assertion.name} assertion={assertion} />
          ))}
        </ul>
      )}
      {controls.map(({ control, title, to, evidence }) => (
        <p key={control} class="break">
          <Mark isGood={to === 'pass'} /> <strong>{words.shortControl(control)}</strong> {words.turns[to]} ({title}):{' '}
          {evidence}
        </p>
      ))}
      {byFramework.map(([framework, passing]) => (
        <details key={framework}>
          <summary>
            <Mark isGood /> {words.passing(passing.length, FRAMEWORK_NAMES[framework])}
          </summary>
          <ul class="stack-small inset">
            {passing.map(({ control, title }) => (
              <li key={control} class="break">
                {words.shortControl(control)} <span class="dim">{title}</span>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </section>
  );
}

function AssertionLine({ assertion: { name, text, held, holds, detail, touched } }: { assertion: Assertion }) {
  return (
    <li class="break">
      <Mark isGood={holds} /> <a href={linkTo('policies', [], { view: 'tests' })}>{name}</a>{' '}
      <span class="dim">{detail ?? text}</span> {touched && <span class="tag">{words.touched}</span>}{' '}
      {!holds && <span class="tag danger">{held ? words.broken : words.brokenBefore}</span>}
    </li>
  );
}

/** Word, shape and colour: beside a text that says it. */
function Mark({ isGood = false }: { isGood?: boolean }) {
  return (
    <span class={isGood ? 'mark good' : 'mark bad'} aria-hidden="true">
      {isGood ? '✓' : '✗'}
    </span>
  );
}
