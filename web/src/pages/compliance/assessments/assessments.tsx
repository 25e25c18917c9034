import { useComputed } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { usePages } from '../../../api/pages.ts';
import { workspaceId } from '../../../api/workspace.ts';
import { goTo, linkTo, route, setQuery } from '../../../route/route.ts';
import { compliance as words } from '../../../texts/compliance.ts';
import { FRAMEWORK_NAMES } from '../../../texts/frameworks.ts';
import { texts } from '../../../texts/texts.ts';
import { Empty } from '../../../ui/page.tsx';
import { type Column, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { OverallState } from '../control-state.tsx';
import { dayOf } from '../days.ts';
import type { AssessmentRow } from '../types.ts';
import { AssessForm } from './assess-form.tsx';
import { frameworkOf } from './framework-of.ts';
import { Trend } from './trend.tsx';

const COLUMNS: readonly Column<AssessmentRow>[] = [
  {
    name: words.period,
    cell: ({ evidence_id: id, period_start: from, period_end: to }) => (
      <a href={linkTo('compliance', ['assessments', id])}>{words.periodOf(dayOf(from), dayOf(to))}</a>
    ),
    order: ({ period_end: to }) => to,
  },
  { name: words.result, cell: ({ status }) => <OverallState status={status} /> },
  {
    name: words.score,
    cell: ({ score }) => words.percent(score),
    order: ({ score }) => score,
    isNumber: true,
  },
  {
    name: words.made,
    cell: ({ generated_at: at, generated_by: by }) => (
      <>
        <Time at={at} /> {words.madeBy} {by}
      </>
    ),
    order: ({ generated_at: at }) => at,
    isMinor: true,
  },
];

/** How the score of a framework went, what is kept, and a new assessment. */
export function Assessments() {
  const framework = frameworkOf(route.value.query.get('framework'));
  const pages = usePages<AssessmentRow, { items: AssessmentRow[] }>(
    (cursor) => {
      workspaceId.value;
      const query = { framework: frameworkOf(route.value.query.get('framework')), ...(cursor && { cursor }) };
      return answer(api.GET('/api/v1/ai/compliance/assessments', { params: { query } }));
    },
    { live: true },
  );
  const rows = useComputed(() => pages.value.value ?? []);
  const { value, more } = pages.value;
  return (
    <>
      <label class="row">
        {words.framework}
        <select value={framework} onChange={({ currentTarget }) => setQuery({ framework: currentTarget.value })}>
          {Object.entries(FRAMEWORK_NAMES).map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <AssessForm framework={framework} isOpen={value !== undefined && rows.value.length === 0} />
      <Trend framework={framework} />
      <section class="stack">
        <h2>{words.kept}</h2>
        <Table
          read={pages.value}
          label={words.kept}
          isPart
          columns={COLUMNS}
          rows={rows}
          keyOf={({ evidence_id: id }) => id}
          open={({ evidence_id: id }) => goTo(linkTo('compliance', ['assessments', id]))}
          empty={<Empty>{words.keptEmpty}</Empty>}
        />
        {more && (
          <div class="row">
            <button type="button" onClick={more}>
              {texts.common.more}
            </button>
          </div>
        )}
      </section>
    </>
  );
}
