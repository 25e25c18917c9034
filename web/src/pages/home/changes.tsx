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

/** How much changed since yesterday, and what was decided; the summary of a change says what it opens and closes. */
export function Changes() {
  const loaded = useLoaded(async () => {
    workspaceId.value;
    const [counted, decided] = await Promise.all([
      answer(api.GET('/api/v1/changes/count', { params: { query: { from: 'yesterday' } } })),
      answer(api.GET('/api/v1/workflows', { params: { query: { limit: ASKED } } })),
    ]);
    return { counted, decided };
  });
  const { value } = loaded.value;
  const since = value && Date.parse(value.counted.from);
  const items = value?.decided.items
    .filter(
      ({ status, reviewedAt, requestedAt }) =>
        status !== 'pending' && since !== undefined && Date.parse(reviewedAt ?? requestedAt) >= since,
    )
    .slice(0, SHOWN);
  return (
    <section class="panel stack">
      <h2>{words.changes}</h2>
      <ReadResult of={loaded.value} />
      {value && (
        <p class={value.counted.count === 0 ? 'dim' : 'break'}>
          {value.counted.count === 0 ? words.noChanges : words.changed(value.counted)}
        </p>
      )}
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
