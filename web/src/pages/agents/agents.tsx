import { useComputed } from '@preact/signals';
import { readAgents } from '../../api/agents.ts';
import { useLoaded } from '../../api/load.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { Icon } from '../../design/icon.tsx';
import { goTo, linkTo, queryPart, route, setQuery } from '../../route/route.ts';
import { ListPage } from '../../ui/list.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { AgentDetails } from './agent-details.tsx';
import { AgentState } from './agent-state.tsx';
import './agents.css';
import { scopeWords } from '../../api/scopes.ts';
import { Reach } from './reach.tsx';
import { inTree } from './tree.ts';
import type { Agent } from './words.ts';

const COLUMNS: readonly Column<Agent>[] = [
  {
    name: 'Name',
    cell: ({ name, depth }) => (
      <span class={`agent-name depth-${depth}`}>
        {depth > 0 && <span aria-hidden="true">└ </span>}
        <Icon name="bot" /> <a href={linkTo('agents', [name], keptQuery())}>{name}</a>
      </span>
    ),
    order: ({ name }) => name,
  },
  {
    name: 'State',
    cell: (agent) => <AgentState agent={agent} />,
    order: ({ phase }) => phase,
  },
  { name: 'May open', cell: (agent) => <Reach agent={agent} />, isMinor: true, isWide: true },
  {
    name: 'Permissions',
    cell: ({ scopes }) => <span title={scopeWords(scopes)}>{scopeWords(scopes)}</span>,
    isMinor: true,
  },
  { name: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} />, order: ({ expiresAt }) => expiresAt },
];

/** Agents with those that they delegated to, below them. */
export default function Agents() {
  const loaded = useLoaded(() => {
    workspaceId.value;
    return readAgents(queryPart('ended') !== null);
  });
  const rows = useComputed(() => loaded.value.value && inTree(loaded.value.value));
  const [chosen] = route.value.rest;
  const { query } = route.value;
  const hasEnded = query.has('ended');
  const mayMake = may('agents:write') || may('network:read');
  return (
    <ListPage
      title="Agents"
      of={loaded}
      rows={rows}
      columns={COLUMNS}
      textsOf={({ name, phase, scopes, person }) => [name, phase, scopeWords(scopes), person ?? '']}
      actions={
        <>
          <button
            type="button"
            class="quiet"
            aria-pressed={hasEnded}
            onClick={() => setQuery({ ended: hasEnded ? undefined : '1' })}
          >
            {hasEnded ? 'Hide ended' : 'Show ended'}
          </button>
          {mayMake && (
            <a class="button primary" href={linkTo('connect')}>
              Connect an agent
            </a>
          )}
        </>
      }
      keyOf={({ name }) => name}
      selected={chosen}
      open={({ name }) => goTo(linkTo('agents', [name], keptQuery()))}
      empty={<WhyEmpty />}
      details={chosen && <AgentDetails key={chosen} name={chosen} />}
    />
  );
}

function WhyEmpty() {
  if (!may('agents:write')) return <>No active agents. Ask an administrator to connect one.</>;
  return (
    <>
      No active agents. Connect one: it gets its own name, limits and expiry.
      <a class="button" href={linkTo('connect')}>
        Connect an agent
      </a>
    </>
  );
}

/** Search and order stay when a row is opened. */
function keptQuery(): Record<string, string> {
  return Object.fromEntries(route.value.query);
}
