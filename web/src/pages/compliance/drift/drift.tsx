import { answer, api } from '../../../api/client.ts';
import { FRAMEWORK_NAMES } from '../../../api/frameworks.ts';
import { usePages } from '../../../api/pages.ts';
import { workspaceId } from '../../../api/workspace.ts';
import { actorText } from '../../../design/actor-words.ts';
import { linkTo } from '../../../route/route.ts';
import { Empty } from '../../../ui/page.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Time } from '../../../ui/time.tsx';
import { ControlState } from '../control-state.tsx';
import type { Drift } from '../types.ts';
import { Schedules } from './schedules.tsx';

/** Controls whose result changed from one assessment to the next, and what is assessed by itself. */
export function DriftTab() {
  return (
    <>
      <Schedules />
      <Events />
    </>
  );
}

function Events() {
  const pages = usePages<Drift, { items: Drift[] }>(
    (cursor) => {
      workspaceId.value;
      return answer(api.GET('/api/v1/ai/compliance/drift', { params: { query: { ...(cursor && { cursor }) } } }));
    },
    { live: true },
  );
  const { more } = pages.value;
  return (
    <section class="stack">
      <h2>Changed controls</h2>
      <p class="dim">Each assessment is compared with the previous one.</p>
      <ReadResult of={pages.value}>
        {(events) => (
          <>
            {events.length === 0 && (
              <Empty>No control has changed its result. Schedule assessments to be notified.</Empty>
            )}
            <ul class="lines">
              {events.map((event) => (
                <Event key={event.id} event={event} />
              ))}
            </ul>
          </>
        )}
      </ReadResult>
      {more && (
        <div class="row">
          <button type="button" onClick={more}>
            Load more
          </button>
        </div>
      )}
    </section>
  );
}

function Event({ event: { framework, at, controls, evidence_id: later, previous_evidence_id: earlier } }: Props) {
  return (
    <li class="stack-small">
      <span class="row">
        <a href={linkTo('compliance', ['assessments', later], { with: earlier })}>{FRAMEWORK_NAMES[framework]}</a>
        <Time at={at} />
      </span>
      {controls.map(({ control, from, to, cause }) => (
        <span key={control} class="row">
          <strong>{control}</strong> <ControlState status={from} /> → <ControlState status={to} />
          {cause && (
            <span class="dim small break">
              since <Time at={cause.at} /> {cause.actor && `by ${actorText(cause.actor)}`}
            </span>
          )}
        </span>
      ))}
    </li>
  );
}

interface Props {
  readonly event: Drift;
}
