import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Problem } from '../../api/problem.ts';
import { Actor } from '../../design/actor.tsx';
import { linkTo, queryPart } from '../../route/route.ts';
import { ago, DAY_MS } from '../../time/moment.ts';
import { type AgentNames, withAgentNamesIn } from '../../ui/agent-names.ts';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { keyOf, whatText } from '../time/change.ts';
import { EffectInLine } from '../time/change-row.tsx';

const SPAN_MS = 30 * DAY_MS;
const SHOWN = 20;

/** What changed a peer, whom it reaches or who reaches it in the last 30 days, newest first. */
export function PeerHistory({ name, agents }: { name: string; agents: AgentNames | undefined }) {
  const range = { from: ago(SPAN_MS), to: queryPart('at') ?? ago(0) };
  const loaded = useLoaded(() => {
    const query = { from: ago(SPAN_MS), peer: name, limit: SHOWN };
    const at = queryPart('at');
    return answer(api.GET('/api/v1/changes', { params: { query: { ...query, ...(at && { to: at }) } } })).catch(
      noneOfAbsent,
    );
  });
  return (
    <section class="stack-small" aria-label="History">
      <ReadResult of={loaded.value}>
        {({ items, total, note }) => (
          <>
            {total === 0 && <p class="dim">Nothing changed this peer or its connections in the last 30 days.</p>}
            {note && <p class="dim small">{note}</p>}
            <ol class="peer-changes">
              {withAgentNamesIn(items, agents).map((change) => (
                <li key={keyOf(change)}>
                  <span class="break">{whatText(change)}</span>
                  <Time at={change.at} />
                  <EffectInLine effect={change.effect} />
                  {change.actor === null ? <span class="dim">expiry</span> : <Actor actor={change.actor} />}
                </li>
              ))}
            </ol>
          </>
        )}
      </ReadResult>
      <p>
        <a href={linkTo('time', [], { peer: name, ...range })}>View in Time</a>
      </p>
    </section>
  );
}

/** A peer that was gone before the range has no changes in it. */
function noneOfAbsent(error: unknown) {
  if (error instanceof Problem && error.code === 'not_found') return { items: [], total: 0, note: undefined };
  throw error;
}
