import { useSignal } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Problem } from '../../api/problem.ts';
import { scopeWords } from '../../api/scopes.ts';
import { may } from '../../api/workspace.ts';
import { linkTo, route } from '../../route/route.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { Facts } from '../../ui/facts.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { AgentCalls } from './agent-calls.tsx';
import { AgentChanges } from './agent-changes.tsx';
import { AgentState } from './agent-state.tsx';
import { RevokeAgent } from './revoke-agent.tsx';
import { type Agent, approvalWords, reachWords } from './words.ts';

const clientOf = ({ name, host, signedOut }: NonNullable<Agent['client']>) =>
  `${name}, by OAuth, on ${host}${signedOut ? ': signed out' : ''}`;

const PRESETS = {
  isolated: 'isolated: no connections in or out',
  sandboxed: 'sandboxed: reaches what it is granted, no connections in',
  coordinator: 'coordinator: reaches its sub-agents, those beside it and what it is granted',
  inherit: 'inherit: reaches what its parent can reach',
} as const;

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
          Close
        </a>
      </div>
      <p>
        May {scopeWords(agent.scopes)}. <strong>Never approves.</strong> {approvalWords(agent)}
      </p>
      <Facts
        facts={[
          ['Delegation chain', <Line key="line" line={line} />],
          ['Client', agent.client && clientOf(agent.client)],
          ['Ends', <Time key="ends" at={agent.expiresAt} />],
          ['May open', <Reach key="reach" agent={agent} />],
          [agent.parentRef ? 'Preset' : 'Limit of its sub-agents', PRESETS[agent.policyPreset]],
          ['Peer', agent.peer ? <a href={linkTo('peers', [agent.peer])}>{agent.peer}</a> : 'none'],
          ['Can reach now', <ReachNow key="now" peer={agent.peer} />],
          ['Created', <Time key="made" at={agent.createdAt} />],
          ['Id', [<code key="id">{agent.id}</code>, ' ', <CopyButton key="copy" text={agent.id} />]],
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
            Revoke agent
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

/** Its rights open nothing: its device connects by the policies that there are. */
function ReachNow({ peer }: Pick<Agent, 'peer'>) {
  if (!peer) return <>nothing: it has no peer</>;
  return <a href={linkTo('peers', [peer], { tab: 'access' })}>Access of {peer}</a>;
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
      {person && <li class="break">{person} (person)</li>}
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
