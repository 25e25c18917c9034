import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { workspaceId } from '../../api/workspace.ts';
import { Risk } from '../../effect/risk.tsx';
import { linkTo } from '../../route/route.ts';
import { texts } from '../../texts.ts';
import { Page } from '../../ui/page.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';

export default function Home() {
  const loaded = useLoaded(() => {
    workspaceId.value;
    return answer(api.GET('/api/v1/workflows', { params: { query: { status: 'pending' } } }));
  });
  const { value, problem, reload } = loaded.value;
  return (
    <Page title={texts.home.title}>
      <ProblemNotice problem={problem} again={reload} />
      <section class="panel stack">
        <h2>{texts.home.waiting}</h2>
        {value?.items.length === 0 && <p class="dim">{texts.home.nothingWaits}</p>}
        <ul class="stack-small">
          {value?.items.map(({ id, summary, riskLevel, requestedBy, requestedAt }) => (
            <li key={id} class="row">
              <a href={linkTo('review', [id])} class="break">
                {summary}
              </a>
              <Risk level={riskLevel} />
              <span class="dim small">{requestedBy}</span>
              <Time at={requestedAt} />
            </li>
          ))}
        </ul>
      </section>
    </Page>
  );
}
