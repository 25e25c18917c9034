import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import { workspaceId } from '../../api/workspace.ts';
import { linkTo } from '../../route/route.ts';
import { home as words } from '../../texts/home.ts';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';

/** Enough for the newest of each framework. */
const ASSESSMENTS = 30;
const DRIFTS = 3;

/** The newest score of each framework, and which controls changed. Not there where the edition has none. */
export function Compliance() {
  const loaded = useLoaded(
    () => {
      workspaceId.value;
      return Promise.all([
        answer(api.GET('/api/v1/ai/compliance/assessments', { params: { query: { limit: ASSESSMENTS } } })),
        answer(api.GET('/api/v1/ai/compliance/drift', { params: { query: { limit: DRIFTS } } })),
      ]);
    },
    { live: false },
  );
  if (loaded.value.problem?.code === 'edition_required') return null;
  return (
    <section class="panel stack">
      <h2>{words.compliance}</h2>
      <ReadResult of={loaded.value}>
        {([assessments, drift]) => <Newest assessments={assessments.items} drift={drift.items} />}
      </ReadResult>
    </section>
  );
}

interface NewestProps {
  readonly assessments: components['schemas']['Assessment'][];
  readonly drift: components['schemas']['ComplianceDrift'][];
}

function Newest({ assessments, drift }: NewestProps) {
  const newest = [...Map.groupBy(assessments, ({ canonical_framework: name }) => name)];
  return (
    <>
      {newest.length === 0 && (
        <p class="dim">
          {words.noAssessment} <a href={linkTo('compliance')}>{words.assess}</a>
        </p>
      )}
      <ul class="stack-small">
        {newest.map(([framework, [last]]) => (
          <li key={framework} class="row">
            <a href={linkTo('compliance')}>{words.frameworks[framework]}</a>
            <strong>{last && words.score(last.score)}</strong>
            <span class={`tag ${last?.status === 'pass' ? 'ok' : last?.status === 'fail' ? 'danger' : 'warn'}`}>
              {last?.status}
            </span>
            <Time at={last?.generated_at} />
          </li>
        ))}
        {drift.map(({ id, framework, at, controls }) => (
          <li key={id} class="row">
            <span class="break">
              {words.frameworks[framework]}: {words.drift(controls.length)} (
              {controls
                .slice(0, 3)
                .map(({ control, from, to }) => `${control} ${from} → ${to}`)
                .join(', ')}
              )
            </span>
            <Time at={at} />
          </li>
        ))}
      </ul>
    </>
  );
}
