import { useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { FRAMEWORK_NAMES } from '../../../api/frameworks.ts';
import { useLoaded } from '../../../api/load.ts';
import { actorText, withPlainNames } from '../../../design/actor-words.ts';
import { linkTo, route, setQuery } from '../../../route/route.ts';
import { CopyButton } from '../../../ui/copy.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { Empty } from '../../../ui/page.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Sentence } from '../../../ui/sentence.tsx';
import { exactTime, Time } from '../../../ui/time.tsx';
import { CONTROL_STATES, OverallState } from '../control-state.tsx';
import { dayOf } from '../days.ts';
import type { Assessment, ControlStatus } from '../types.ts';
import { Comparison } from './comparison.tsx';
import { ControlView } from './control.tsx';
import { Evidence, EvidenceDownload } from './evidence.tsx';

const counted = (pass: number, fail: number, unknown: number) =>
  `${pass} ${pass === 1 ? 'control passes' : 'controls pass'}, ${fail} ${fail === 1 ? 'fails' : 'fail'}, ${unknown} ${unknown === 1 ? 'lacks' : 'lack'} evidence.`;

/** What needs somebody first. */
const ORDER: readonly ControlStatus[] = ['fail', 'insufficient_evidence', 'pass'];

/** A kept assessment as it was made, with its controls; which are shown stands in the address (`show`). */
export function AssessmentPage({ id }: { id: string }) {
  const loaded = useLoaded(
    () => answer(api.GET('/api/v1/ai/compliance/assessments/{id}', { params: { path: { id } } })),
    { live: false },
  );
  return <ReadResult of={loaded.value}>{(kept) => <Kept assessment={kept} />}</ReadResult>;
}

function Kept({ assessment: value }: Props) {
  const framework = FRAMEWORK_NAMES[value.canonical_framework];
  const { period_start: from, period_end: to } = value;
  const archive = useSignal('mesh-compliance-evidence.zip');
  return (
    <article class="stack" aria-label={framework}>
      <p>
        <a href={linkTo('compliance', ['assessments'], { framework: value.canonical_framework })}>All assessments</a>
      </p>
      <div class="row">
        <h2>
          {framework},{' '}
          <span title={`${exactTime(from)}, ${exactTime(to)}`}>
            {dayOf(from)} to {dayOf(to)}
          </span>
        </h2>
        <OverallState status={value.status} />
        <strong>{value.score} %</strong>
        <EvidenceDownload id={value.evidence_id} name={archive} />
      </div>
      <p title={withPlainNames(value.summary)}>{counted(...countsOf(value))}</p>
      {value.gaps.length > 0 && (
        <div class="notice warn">
          <strong>Gaps in the evidence</strong>
          <ul>
            {value.gaps.map((gap) => (
              <li key={gap} class="break">
                <Sentence text={withPlainNames(gap)} />
              </li>
            ))}
          </ul>
        </div>
      )}
      <Facts
        facts={[
          ['Scope', value.scope],
          ['Created', [<Time key="made" at={value.generated_at} />, ` by ${actorText(value.generated_by)}`]],
          [
            'Evidence',
            [<code key="id">{value.evidence_id}</code>, ' ', <CopyButton key="copy" text={value.evidence_id} />],
          ],
        ]}
      />
      <Controls assessment={value} />
      <Comparison assessment={value} />
      <Evidence name={archive} />
    </article>
  );
}

const countsOf = ({ controls }: Assessment): [pass: number, fail: number, unknown: number] => {
  const of = (status: ControlStatus) => controls.filter((control) => control.status === status).length;
  return [of('pass'), of('fail'), of('insufficient_evidence')];
};

function Controls({ assessment: { controls, period_start: from, period_end: to, states_evaluated: states } }: Props) {
  const show = ORDER.find((status) => status === route.value.query.get('show'));
  const counts = ORDER.map((status) => [status, controls.filter((one) => one.status === status).length] as const);
  const shown = ORDER.flatMap((status) =>
    show && show !== status ? [] : controls.filter((control) => control.status === status),
  );
  return (
    <section class="stack" aria-labelledby="controls">
      <div class="row">
        <h2 id="controls">Controls</h2>
        <fieldset class="row push tabs" aria-label="Show">
          <button type="button" aria-pressed={!show} onClick={() => setQuery({ show: undefined })}>
            all {controls.length}
          </button>
          {counts.map(([status, count]) => (
            <button
              key={status}
              type="button"
              aria-pressed={show === status}
              onClick={() => setQuery({ show: status })}
            >
              {CONTROL_STATES[status]} {count}
            </button>
          ))}
        </fieldset>
      </div>
      <p class="dim small">{states} states of the network were checked.</p>
      {shown.length === 0 && <Empty>No matching controls.</Empty>}
      <div class="stack-small">
        {shown.map((control) => (
          <ControlView key={control.id} control={control} from={from} to={to} />
        ))}
      </div>
    </section>
  );
}

interface Props {
  readonly assessment: Assessment;
}
