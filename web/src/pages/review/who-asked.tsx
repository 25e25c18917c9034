import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Problem } from '../../api/problem.ts';
import type { Agent } from '../../api/types.ts';
import { actorText } from '../../design/actor-words.ts';
import { linkTo } from '../../route/route.ts';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { reachWords } from '../agents/words.ts';

const AGENT = 'agent:';
/** Agents above one another; the control plane allows fewer. */
const MOST_ANCESTORS = 16;

/** Who asked; of an agent also those who made it, up to the person, and how long it has left. */
export function WhoAsked({ actor, at }: { actor: string; at: string }) {
  return (
    <>
      {actor.startsWith(AGENT) ? (
        <AgentLine name={actor.slice(AGENT.length)} at={at} />
      ) : (
        <span class="break">
          {actorText(actor)}, <Time at={at} />
        </span>
      )}
    </>
  );
}

function AgentLine({ name, at }: { name: string; at: string }) {
  const loaded = useLoaded(() => lineOf(name, at));
  return (
    <>
      <a class="break" href={linkTo('agents', [name])}>
        {actorText(AGENT + name)}
      </a>
      , <Time at={at} />
      <ReadResult of={loaded.value} loading="">
        {(line) => <Ancestors line={line} />}
      </ReadResult>
    </>
  );
}

function Ancestors({ line }: { line: readonly Agent[] }) {
  const [agent] = line;
  const person = line.at(-1)?.person;
  return (
    <>
      {line.slice(1).map((parent) => (
        <span key={parent.id}>
          , made by agent <a href={linkTo('agents', [parent.name])}>{parent.name}</a>
        </span>
      ))}
      {person && <span class="break">, on behalf of {person}</span>}
      {agent && (
        <span class="dim">
          {' '}
          ({agent.phase === 'Active' ? 'it ends' : `${agent.phase.toLowerCase()}, its time ends`}{' '}
          <Time at={agent.expiresAt} />)
        </span>
      )}
      {agent && <span class="bound small">May open: {reachWords(agent).join('; ')}</span>}
    </>
  );
}

/**
 * The agent that asked at an instant and those above it, the nearest first. One that is gone has no line, and one that took its
 * name since is not told for it.
 */
async function lineOf(name: string, at: string): Promise<readonly Agent[]> {
  const line: Agent[] = [];
  let next: string | undefined = name;
  while (next !== undefined && line.length < MOST_ANCESTORS) {
    const agent: Agent | undefined = await answer(
      api.GET('/api/v1/agents/{id}', { params: { path: { id: next } } }),
    ).catch((error: unknown) => {
      if (error instanceof Problem && error.status === 404) return undefined;
      throw error;
    });
    if (!agent || Date.parse(agent.createdAt) > Date.parse(at)) break;
    line.push(agent);
    next = agent.parentRef?.name;
  }
  return line;
}
