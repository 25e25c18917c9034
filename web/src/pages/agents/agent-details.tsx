import { useSignal } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Problem } from '../../api/problem.ts';
import { may } from '../../api/workspace.ts';
import { linkTo, route } from '../../route/route.ts';
import { agents as words } from '../../texts/agents.ts';
import { texts } from '../../texts/texts.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Facts } from '../../ui/facts.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { AgentCalls } from './agent-calls.tsx';
import { AgentChanges } from './agent-changes.tsx';
import { AgentState } from './agent-state.tsx';
import { RevokeAgent } from './revoke-agent.tsx';
import { type Agent, reachWords, scopeWords } from './words.ts';

/** One agent: who answers for it, what it may do, what it did, and its end. */
export function AgentDetails({ name }: { name: string }) {
  const loaded = useLoaded(() => readLine(name));
  return <ReadResult of={loaded.value}>{(line) => <Details line={line} reload={loaded.value.reload} />}</ReadResult>;
}

type AgentLine = readonly [Agent, ...Agent[]];

function Details({ line, reload }: { line: AgentLine; reload: () => void }) {
  const isAsked = useSignal(false);
  const [agent] = line;
  const isOpen = agent.phase === 'Active' || agent.phase === 'Pending';
  const isPast = route.value.query.has('at');
  return (
    <article class="panel stack" aria-label={agent.name}>
      <div class="row">
        <h2 class="break">{agent.name}</h2>
        <AgentState agent={agent} />
        <a class="push" href={linkTo('agents')}>
          {texts.common.close}
        </a>
      </div>
      <p>
        {words.mayList(scopeWords(agent.scopes))} <strong>{words.never}</strong>
      </p>
      <Facts
        facts={[
          [words.line, <Line key="line" line={line} />],
          [words.ends, <Time key="ends" at={agent.expiresAt} />],
          [words.reach, <Reach key="reach" agent={agent} />],
          [agent.parentRef ? words.preset : words.widest, words.presets[agent.policyPreset]],
          [words.peer, agent.peer ? <a href={linkTo('peers', [agent.peer])}>{agent.peer}</a> : words.noPeer],
          [words.made, <Time key="made" at={agent.createdAt} />],
          [words.id, [<code key="id">{agent.id}</code>, ' ', <CopyButton key="copy" text={agent.id} />]],
        ]}
      />
      {may('agents:write') && isOpen && !isPast && (
        <div class="row">
          <button
            type="button"
            class="danger"
            onClick={() => {
              isAsked.value = true;
            }}
          >
            {words.revoke}
          </button>
        </div>
      )}
      <AgentChanges name={agent.name} />
      <AgentCalls id={agent.id} />
      {isAsked.value && (
        <RevokeAgent
          agent={agent}
          close={() => {
            isAsked.value = false;
            reload();
          }}
        />
      )}
    </article>
  );
}

function Reach({ agent }: { agent: Agent }) {
  return (
    <ul>
      {reachWords(agent).map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

/** From the person who answers for it down to the agent. */
function Line({ line }: { line: readonly Agent[] }) {
  const down = line.toReversed();
  const person = down[0]?.person;
  return (
    <ol class="row">
      {person && <li class="break">{words.lineOf(person)}</li>}
      {down.map(({ id, name }, index) => (
        <li key={id} class="break">
          <span aria-hidden="true">→ </span>
          {index === down.length - 1 ? <strong>{name}</strong> : <a href={linkTo('agents', [name])}>{name}</a>}
        </li>
      ))}
    </ol>
  );
}

/** An agent and its ancestors, nearest first; the depth of delegation is bounded. */
async function readLine(name: string): Promise<readonly [Agent, ...Agent[]]> {
  const read = (id: string): Promise<Agent> => answer(api.GET('/api/v1/agents/{id}', { params: { path: { id } } }));
  const agent = await read(name);
  const line: [Agent, ...Agent[]] = [agent];
  for (let next = agent.parentRef; next && line.length <= agent.depth; ) {
    // A parent may be gone: the line is told as far as it is known.
    const parent = await read(next.name).catch((error: unknown) => {
      if (error instanceof Problem && error.status === 404) return undefined;
      throw error;
    });
    if (!parent) break;
    line.push(parent);
    next = parent.parentRef;
  }
  return line;
}
