import { useComputed } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { FRAMEWORK_NAMES } from '../../../api/frameworks.ts';
import { usePages } from '../../../api/pages.ts';
import { workspaceId } from '../../../api/workspace.ts';
import { actorText } from '../../../design/actor-words.ts';
import { goTo, linkTo, queryPart, setQuery } from '../../../route/route.ts';
import { ListSection } from '../../../ui/list.tsx';
import type { Column } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { OverallState } from '../control-state.tsx';
import { dayOf } from '../days.ts';
import type { AssessmentRow } from '../types.ts';
import { AssessForm } from './assess-form.tsx';
import { frameworkOf } from './framework-of.ts';
import { Newest } from './newest.tsx';
import { Trend } from './trend.tsx';

const COLUMNS: readonly Column<AssessmentRow>[] = [
  {
    name: 'Period',
    cell: ({ evidence_id: id, period_start: from, period_end: to }) => (
      <a href={linkTo('compliance', ['assessments', id])}>
        {dayOf(from)} to {dayOf(to)}
      </a>
    ),
    order: ({ period_end: to }) => to,
  },
  { name: 'Result', cell: ({ status }) => <OverallState status={status} /> },
  {
    name: 'Score',
    cell: ({ score }) => `${score} %`,
    order: ({ score }) => score,
    isNumber: true,
  },
  {
    name: 'Created',
    cell: ({ generated_at: at, generated_by: by }) => (
      <>
        <Time at={at} /> by {actorText(by)}
      </>
    ),
    order: ({ generated_at: at }) => at,
    isMinor: true,
  },
];

/** How the score of a framework went, what is kept, and a new assessment. */
export function Assessments() {
  const framework = frameworkOf(queryPart('framework'));
  const pages = usePages<AssessmentRow, { items: AssessmentRow[] }>(
    (cursor) => {
      workspaceId.value;
      const query = { framework: frameworkOf(queryPart('framework')), ...(cursor && { cursor }) };
      return answer(api.GET('/api/v1/ai/compliance/assessments', { params: { query } }));
    },
    { live: true },
  );
  const rows = useComputed(() => pages.value.value ?? []);
  const { value } = pages.value;
  const [newest] = rows.value;
  return (
    <>
      <label class="row">
        Framework
        <select value={framework} onChange={({ currentTarget }) => setQuery({ framework: currentTarget.value })}>
          {Object.entries(FRAMEWORK_NAMES).map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <AssessForm framework={framework} isOpen={value !== undefined && rows.value.length === 0} />
      {newest && <Newest key={newest.evidence_id} id={newest.evidence_id} />}
      <Trend framework={framework} />
      <ListSection
        title="Past assessments"
        of={pages}
        rows={rows}
        columns={COLUMNS}
        keyOf={({ evidence_id: id }) => id}
        open={({ evidence_id: id }) => goTo(linkTo('compliance', ['assessments', id]))}
        empty="No assessments yet. Assess a recent period to see where the network stands."
      />
    </>
  );
}
