import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Peer, Workflow } from '../../api/types.ts';
import { waiting, waitingCount } from '../../api/waiting.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { Actor } from '../../design/actor.tsx';
import { Icon } from '../../design/icon.tsx';
import { Risk } from '../../effect/risk.tsx';
import { linkTo } from '../../route/route.ts';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';

const SHOWN = 6;

/** Changes, devices and reviews that somebody decides. */
export function Waiting() {
  return (
    <section class="panel stack">
      <h2>Waiting for you</h2>
      <ReadResult of={waiting.value}>
        {({ workflows, peers }) => <Decisions workflows={workflows} peers={peers} />}
      </ReadResult>
      {may('compliance:assess') && <Reviews />}
      {waitingCount.value > SHOWN && (
        <p>
          <a href={linkTo('review')}>All in Review</a>
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
  if (workflows.length + peers.length === 0) return <p class="dim">Nothing is waiting for a decision.</p>;
  return (
    <ul class="rows waiting">
      {workflows.slice(0, SHOWN).map(({ id, summary, riskLevel, requestedBy, requestedAt }) => (
        <li key={id}>
          <Actor actor={requestedBy} />
          <a href={linkTo('review', [id])} class="break">
            {summary}
          </a>
          <Risk level={riskLevel} />
          <Time at={requestedAt} />
        </li>
      ))}
      {shownPeers.map(({ id, name, createdAt }) => (
        <li key={id}>
          <span class="actor">
            <Icon name="laptop" /> device
          </span>
          <a href={linkTo('review', ['peer', name])} class="break">
            {name} is awaiting approval
          </a>
          <span />
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
                <a href={linkTo('compliance', ['reviews'])}>
                  {`The ${kind} review is ${open_id ? 'open' : 'overdue'}`}
                </a>
                <span>
                  due <Time at={due_at} />
                </span>
              </li>
            ))}
        </ul>
      )}
    </ReadResult>
  );
}
