import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { linkTo } from '../../../route/route.ts';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Time } from '../../../ui/time.tsx';
import { ControlState, OverallState } from '../control-state.tsx';
import type { Assessment, ControlStatus } from '../types.ts';

const ORDER: readonly ControlStatus[] = ['fail', 'insufficient_evidence'];

/** The score of the newest assessment, and the controls that do not pass, failing ones first. */
export function Newest({ id }: { id: string }) {
  const loaded = useLoaded(
    () => answer(api.GET('/api/v1/ai/compliance/assessments/{id}', { params: { path: { id } } })),
    { live: false },
  );
  return (
    <section class="panel stack" aria-label="Newest assessment">
      <ReadResult of={loaded.value}>{(assessment) => <Score assessment={assessment} />}</ReadResult>
    </section>
  );
}

function Score({ assessment }: { assessment: Assessment }) {
  const { score, status, generated_at: at, evidence_id: id, controls } = assessment;
  const open = ORDER.flatMap((one) => controls.filter((control) => control.status === one));
  return (
    <>
      <div class="row">
        <strong class="score-figure">{score} %</strong>
        <OverallState status={status} />
        <span class="dim">
          assessed <Time at={at} />
        </span>
        <a class="button push" href={linkTo('compliance', ['assessments', id])}>
          View assessment
        </a>
      </div>
      <ul class="open-controls">
        {open.map((control) => (
          <li key={control.id}>
            <ControlState status={control.status} />
            <strong>{control.id}</strong>
            <span class="break">{control.title}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
