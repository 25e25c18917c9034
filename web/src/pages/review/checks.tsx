import { FRAMEWORK_NAMES } from '../../api/frameworks.ts';
import type { Drawing } from '../../api/types.ts';
import { Chip } from '../../design/chip.tsx';
import { linkTo } from '../../route/route.ts';

const TURNS = { pass: 'passes', fail: 'fails', insufficient_evidence: 'cannot be judged' } as const;

type Assertion = Drawing['assertions'][number];

/** What must hold of the network, and how it stands after the change: assertions, and controls of frameworks. */
export function Checks({ drawing: { assertions, controls, controls_standing: standing } }: { drawing: Drawing }) {
  const holding = assertions.filter(({ holds }) => holds).length;
  const shown = assertions.filter(({ touched, holds }) => touched || !holds);
  const byFramework = [...Map.groupBy(standing, ({ framework }) => framework)];
  return (
    <section class="stack-small" aria-label="Assertions and controls">
      <h3>Assertions and controls</h3>
      {assertions.length === 0 ? (
        <p class="dim">No assertion guards this workspace.</p>
      ) : (
        <p>
          <Mark isGood={holding === assertions.length} /> {holding} of {assertions.length}{' '}
          {assertions.length === 1 ? 'assertion holds' : 'assertions hold'} after it
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
          <Mark isGood={to === 'pass'} /> <strong>{shortControl(control)}</strong> {TURNS[to]} ({title}): {evidence}
        </p>
      ))}
      {byFramework.map(([framework, passing]) => (
        <details key={framework}>
          <summary>
            <Mark isGood /> {FRAMEWORK_NAMES[framework]}: {passing.length}{' '}
            {passing.length === 1 ? 'control still passes' : 'controls still pass'}
          </summary>
          <ul class="stack-small inset">
            {passing.map(({ control, title }) => (
              <li key={control} class="break">
                {shortControl(control)} <span class="dim">{title}</span>
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
      <span class="dim">{detail ?? text}</span> {touched && <Chip>touched by it</Chip>}{' '}
      {!holds && <Chip tone="danger">{held ? 'broken' : 'broken before already'}</Chip>}
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

function shortControl(control: string): string {
  return control.replace('PCI-DSS-', 'PCI ');
}
