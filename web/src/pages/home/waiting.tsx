import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { waiting, waitingCount } from '../../api/waiting.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { Risk } from '../../effect/risk.tsx';
import { linkTo } from '../../route/route.ts';
import { home as words } from '../../texts/home.ts';
import { texts } from '../../texts/texts.ts';
import { Time } from '../../ui/time.tsx';

const SHOWN = 6;

/** Changes, devices and reviews that somebody decides. */
export function Waiting() {
  const { workflows = [], peers = [] } = waiting.value ?? {};
  const count = waitingCount.value;
  const shownPeers = peers.slice(0, Math.max(0, SHOWN - workflows.length));
  return (
    <section class="panel stack">
      <h2>
        {words.waiting} {count > 0 && <span class="tag accent">{count}</span>}
      </h2>
      {waiting.value && count === 0 && <p class="dim">{words.nothingWaits}</p>}
      <ul class="stack-small">
        {workflows.slice(0, SHOWN).map(({ id, summary, riskLevel, requestedBy, requestedAt }) => (
          <li key={id} class="row">
            <a href={linkTo('review', [id])} class="break">
              {summary}
            </a>
            <Risk level={riskLevel} />
            <span class="dim small break">{requestedBy}</span>
            <Time at={requestedAt} />
          </li>
        ))}
        {shownPeers.map(({ id, name, createdAt }) => (
          <li key={id} class="row">
            <a href={linkTo('review', ['peer', name])} class="break">
              {texts.review.joins(name)}
            </a>
            <Time at={createdAt} />
          </li>
        ))}
        {may('compliance:assess') && <Reviews />}
      </ul>
      {count > SHOWN && (
        <p>
          <a href={linkTo('review')}>{words.all(count)}</a>
        </p>
      )}
    </section>
  );
}

/** Reviews that people owe, where the edition has them. */
function Reviews() {
  const loaded = useLoaded(
    () => {
      workspaceId.value;
      return answer(api.GET('/api/v1/ai/compliance/reviews', { params: { query: { limit: 1 } } }));
    },
    { live: false },
  );
  const owed = loaded.value.value?.due.filter(({ open_id, overdue }) => open_id !== null || overdue) ?? [];
  return (
    <>
      {owed.map(({ kind, open_id, due_at }) => (
        <li key={kind} class="row">
          <a href={linkTo('compliance')}>{open_id ? words.reviewOpen(kind) : words.reviewOverdue(kind)}</a>
          <span>
            {words.due} <Time at={due_at} />
          </span>
        </li>
      ))}
    </>
  );
}
