import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Agent } from '../../api/types.ts';
import { workspaceId } from '../../api/workspace.ts';
import { linkTo } from '../../route/route.ts';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { reachWords } from '../agents/words.ts';

const SHOWN = 6;
const ASKED = 200;

/** Those that end soonest. */
export function AgentsAtWork() {
  const loaded = useLoaded(() => {
    workspaceId.value;
    return answer(api.GET('/api/v1/agents', { params: { query: { phase: 'Active', limit: ASKED } } }));
  });
  return (
    <section class="panel stack">
      <h2>Active agents</h2>
      <ReadResult of={loaded.value}>{({ items }) => <Soonest agents={items} />}</ReadResult>
    </section>
  );
}

function Soonest({ agents: all }: { agents: readonly Agent[] }) {
  const agents = all.toSorted((a, b) => (a.expiresAt < b.expiresAt ? -1 : 1));
  return (
    <>
      {agents.length === 0 && <p class="dim">No active agents.</p>}
      <ul class="rows">
        {agents.slice(0, SHOWN).map((agent) => (
          <li key={agent.id}>
            <a href={linkTo('agents', [agent.name])} class="break">
              {agent.name}
            </a>
            <span class="small dim break">
              ends <Time at={agent.expiresAt} />, may open {reachWords(agent).join('; ')}
            </span>
          </li>
        ))}
      </ul>
      {agents.length > SHOWN && (
        <p>
          <a href={linkTo('agents')}>All agents</a>
        </p>
      )}
    </>
  );
}
