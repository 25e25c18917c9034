import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Peer, Workflow } from '../../api/types.ts';
import { waiting, waitingCount } from '../../api/waiting.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { Risk } from '../../effect/risk.tsx';
import { linkTo } from '../../route/route.ts';
import { home as words } from '../../texts/home.ts';
import { texts } from '../../texts/texts.ts';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';

const SHOWN = 6;

/** Changes, devices and reviews that somebody decides. */
export function Waiting() {
  const count = waitingCount.value;
  return (
    <section class="panel stack">
      <h2>
        {words.waiting} {count > 0 && <span class="tag accent">{count}</span>}
      </h2>
      <ReadResult of={waiting.value}>
        {({ workflows, peers }) => <Decisions workflows={workflows} peers={peers} />}
      </ReadResult>
      {may('compliance:assess') && <Reviews />}
      {count > SHOWN && (
        <p>
          <a href={linkTo('review')}>{words.all(count)}</a>
        </p>
      )}
    </section>
  );
}

interface DecisionsProps {
  readonly workflows: readonly Workflow[];
  readonly peers: readonly Peer[];
}

function Decisions({ workflows, peers }: DecisionsProps) {
  const shownPeers = peers.slice(0, Math.max(0, SHOWN - workflows.length));
  if (workflows.length + peers.length === 0) return <p class="dim">{words.nothingWaits}</p>;
  return (
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
    </ul>
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
  if (loaded.value.problem?.code === 'edition_required') return null;
  return (
    <ReadResult of={loaded.value}>
      {({ due }) => (
        <ul class="stack-small">
          {due
            .filter(({ open_id, overdue }) => open_id !== null || overdue)
            .map(({ kind, open_id, due_at }) => (
              <li key={kind} class="row">
                <a href={linkTo('compliance')}>{open_id ? words.reviewOpen(kind) : words.reviewOverdue(kind)}</a>
                <span>
                  {words.due} <Time at={due_at} />
                </span>
              </li>
            ))}
        </ul>
      )}
    </ReadResult>
  );
}
