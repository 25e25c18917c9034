import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { Chip } from '../../../design/chip.tsx';
import { route, setQuery } from '../../../route/route.ts';
import { ReadResult } from '../../../ui/read-result.tsx';
import { ControlState } from '../control-state.tsx';
import { dayOf } from '../days.ts';
import type { Assessment, AssessmentRow, ControlStatus } from '../types.ts';

const OFFERED = 100;

/** What another assessment of the framework judged otherwise; which one stands in the address (`with`). */
export function Comparison({ assessment }: { assessment: Assessment }) {
  const { evidence_id: id, canonical_framework: framework, controls } = assessment;
  const loaded = useLoaded(
    () => answer(api.GET('/api/v1/ai/compliance/assessments', { params: { query: { framework, limit: OFFERED } } })),
    { live: false },
  );
  return (
    <ReadResult of={loaded.value} loading="">
      {({ items }) => (
        <Others others={items.filter(({ evidence_id: one }) => one !== id)} id={id} controls={controls} />
      )}
    </ReadResult>
  );
}

interface OthersProps {
  readonly others: readonly AssessmentRow[];
  readonly id: string;
  readonly controls: Assessment['controls'];
}

function Others({ others, id, controls }: OthersProps) {
  const other = route.value.query.get('with');
  if (others.length === 0) return null;
  return (
    <section class="stack">
      <label class="row">
        Compare with
        <select value={other ?? ''} onChange={({ currentTarget }) => setQuery({ with: currentTarget.value })}>
          <option value="">nothing</option>
          {others.map(({ evidence_id: one, period_start: from, period_end: to, score }) => (
            <option key={one} value={one}>
              {dayOf(from)} to {dayOf(to)}, {score} %
            </option>
          ))}
        </select>
      </label>
      {other && <Compared key={other} earlier={other} later={id} titles={titlesOf(controls)} />}
    </section>
  );
}

type Titles = ReadonlyMap<string, string>;

const titlesOf = (controls: Assessment['controls']): Titles => new Map(controls.map(({ id, title }) => [id, title]));

function Compared({ earlier, later, titles }: { earlier: string; later: string; titles: Titles }) {
  const loaded = useLoaded(
    () => answer(api.GET('/api/v1/ai/compliance/assessments/compare', { params: { query: { earlier, later } } })),
    { live: false },
  );
  return (
    <div class="panel stack">
      <ReadResult of={loaded.value}>
        {(value) => (
          <>
            <h3>Controls with another result</h3>
            <p>
              Score {scoreChange(value.score_change)}. {value.controls.length === 0 && 'No control changed. '}
              {value.unchanged_count} are the same.
            </p>
            <ul class="lines">
              {value.controls.map(({ id, from, to }) => (
                <li key={id} class="row">
                  <strong>{id}</strong>
                  <span class="break">{titles.get(id)}</span>
                  <span class="row push">
                    <Judged status={from} /> → <Judged status={to} />
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
      </ReadResult>
    </div>
  );
}

function Judged({ status }: { status: ControlStatus | null }) {
  return status === null ? <Chip>not assessed</Chip> : <ControlState status={status} />;
}

function scoreChange(change: number): string {
  if (change === 0) return 'unchanged';
  return change > 0 ? `up by ${change}` : `down by ${-change}`;
}
