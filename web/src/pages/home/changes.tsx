import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { workspaceId } from '../../api/workspace.ts';
import { linkTo } from '../../route/route.ts';
import { home as words } from '../../texts/home.ts';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';

const SHOWN = 8;
/** Those that wait are left out of them. */
const ASKED = 40;
const DAY_MS = 86_400_000;

/** What was decided since yesterday; the summary of a change says what it opens and closes. */
export function Changes() {
  const loaded = useLoaded(() => {
    workspaceId.value;
    return answer(api.GET('/api/v1/workflows', { params: { query: { limit: ASKED } } }));
  });
  const { value } = loaded.value;
  const since = Date.now() - DAY_MS;
  const items = value?.items
    .filter(
      ({ status, reviewedAt, requestedAt }) => status !== 'pending' && Date.parse(reviewedAt ?? requestedAt) > since,
    )
    .slice(0, SHOWN);
  return (
    <section class="panel stack">
      <h2>{words.changes}</h2>
      <ReadResult of={loaded.value} />
      {items?.length === 0 && <p class="dim">{words.noChanges}</p>}
      <ul class="stack-small">
        {items?.map(({ id, summary, status, reviewedBy, reviewedAt, requestedAt }) => (
          <li key={id} class="row">
            <a href={linkTo('review', [id])} class="break">
              {summary}
            </a>
            <span class={`tag ${status === 'executed' ? 'ok' : status === 'failed' ? 'danger' : ''}`}>{status}</span>
            {reviewedBy && <span class="dim small break">{words.by(status === 'rejected', reviewedBy)}</span>}
            <Time at={reviewedAt ?? requestedAt} />
          </li>
        ))}
      </ul>
    </section>
  );
}
