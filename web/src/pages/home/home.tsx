import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { waiting } from '../../api/waiting.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { Risk } from '../../effect/risk.tsx';
import { linkTo } from '../../route/route.ts';
import { texts } from '../../texts/texts.ts';
import { Page } from '../../ui/page.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';

export default function Home() {
  return (
    <Page title={texts.home.title}>
      {may('network:read') && <Waiting />}
      {may('network:read') && <Changes />}
    </Page>
  );
}

function Waiting() {
  const { workflows = [], peers = [] } = waiting.value ?? {};
  return (
    <section class="panel stack">
      <h2>{texts.home.waiting}</h2>
      {waiting.value && workflows.length + peers.length === 0 && <p class="dim">{texts.home.nothingWaits}</p>}
      <ul class="stack-small">
        {workflows.map(({ id, summary, riskLevel, requestedBy, requestedAt }) => (
          <li key={id} class="row">
            <a href={linkTo('review', [id])} class="break">
              {summary}
            </a>
            <Risk level={riskLevel} />
            <span class="dim small">{requestedBy}</span>
            <Time at={requestedAt} />
          </li>
        ))}
        {peers.map(({ id, name, createdAt }) => (
          <li key={id} class="row">
            <a href={linkTo('review', ['peer', name])}>{texts.review.joins(name)}</a>
            <Time at={createdAt} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What was decided last. */
function Changes() {
  const loaded = useLoaded(() => {
    workspaceId.value;
    return answer(api.GET('/api/v1/workflows', { params: { query: { limit: 10 } } }));
  });
  const { value, problem, reload } = loaded.value;
  const items = value?.items.filter(({ status }) => status !== 'pending');
  return (
    <section class="panel stack">
      <h2>{texts.home.changes}</h2>
      <ProblemNotice problem={problem} again={reload} />
      {items?.length === 0 && <p class="dim">{texts.home.noChanges}</p>}
      <ul class="stack-small">
        {items?.map(({ id, summary, status, reviewedBy, reviewedAt, requestedAt }) => (
          <li key={id} class="row">
            <a href={linkTo('review', [id])} class="break">
              {summary}
            </a>
            <span class="tag">{status}</span>
            <span class="dim small">{reviewedBy}</span>
            <Time at={reviewedAt ?? requestedAt} />
          </li>
        ))}
      </ul>
    </section>
  );
}
