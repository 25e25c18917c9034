import { actorText, withPlainNames } from '../../../design/actor-words.ts';
import { Chip } from '../../../design/chip.tsx';
import { linkTo } from '../../../route/route.ts';
import { Facts } from '../../../ui/facts.tsx';
import { Time } from '../../../ui/time.tsx';
import { ControlState } from '../control-state.tsx';
import type { Control, FailingInterval, FlipCause } from '../types.ts';
import { Remedy } from './remedy.tsx';
import { TimeLine } from './time-line.tsx';

const STRENGTHS = {
  strong: 'Mesh checks all that the control asks.',
  partial: 'Mesh checks part of what the control asks.',
} as const;

interface Props {
  readonly control: Control;
  readonly from: string;
  readonly to: string;
}

/** One control: its state in a line; on demand what it rests on, when it failed and by which change, and what to do. */
export function ControlView({ control, from, to }: Props) {
  const { id, title, status, evidence, strength, caveat, references, passing_of: of } = control;
  return (
    <details class="control">
      <summary>
        <ControlState status={status} />
        <strong>{id}</strong>
        <span class="break">{title}</span>
        {strength === 'partial' && (
          <Chip isPushed title={STRENGTHS.partial}>
            partial
          </Chip>
        )}
      </summary>
      <div class="stack">
        <p class="break">{withPlainNames(evidence)}</p>
        {of !== 'now' && <TimeLine failing={control.failing} from={from} to={to} />}
        {control.failing.length > 0 && <Failing control={control} from={from} to={to} />}
        <Remedy control={control} />
        <Facts
          facts={[
            ['Strength', `${strength}: ${STRENGTHS[strength]}`],
            ['Not covered', caveat],
            ['References', references.join(', ')],
          ]}
        />
      </div>
    </details>
  );
}

function Failing({ control: { failing, omitted_failing: omitted }, from, to }: Props) {
  return (
    <section class="stack-small">
      <h3>When it failed</h3>
      <ul class="lines">
        {failing.map((interval) => (
          <li key={`${interval.from} ${interval.facts}`} class="stack-small">
            <span>
              <span aria-hidden="true">▲</span> <When interval={interval} start={from} end={to} />
            </span>
            <span class="break">{withPlainNames(interval.facts)}</span>
            {interval.begun_by && <Cause word="Began with" cause={interval.begun_by} />}
            {interval.ended_by && <Cause word="ended with" cause={interval.ended_by} />}
          </li>
        ))}
      </ul>
      {omitted > 0 && <p class="dim small">{omitted} more are in the evidence.</p>}
    </section>
  );
}

function When({ interval: { from, to }, start, end }: { interval: FailingInterval; start: string; end: string }) {
  if (from === to) {
    return (
      <>
        at <Time at={from} />
      </>
    );
  }
  return (
    <>
      {from === start ? 'since before the period' : <Time at={from} />},{' '}
      {to === end ? 'until the end of the period' : ['until ', <Time key="to" at={to} />]}
    </>
  );
}

function Cause({ word, cause: { at, actor, resources, workflow_id: workflow, reviewed_by: by, direct } }: CauseProps) {
  return (
    <span class="dim small break">
      {word} {resources.join(', ')} {actor && `(${actorText(actor)}) `}
      <Time at={at} />, {by ? `reviewed by ${actorText(by)}` : 'not reviewed'}
      {direct && `, written directly`}
      {workflow && (
        <>
          , <a href={linkTo('review', [workflow])}>the workflow</a>
        </>
      )}
    </span>
  );
}

interface CauseProps {
  readonly word: string;
  readonly cause: FlipCause;
}
