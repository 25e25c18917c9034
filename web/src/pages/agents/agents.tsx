import { useComputed } from '@preact/signals';
import { readAgents } from '../../api/agents.ts';
import { useLoaded } from '../../api/load.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { goTo, linkTo, route, setQuery } from '../../route/route.ts';
import { agents as words } from '../../texts/agents.ts';
import { texts } from '../../texts/texts.ts';
import { Empty, Page } from '../../ui/page.tsx';
import { type Column, matches, SearchBox, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { AgentDetails } from './agent-details.tsx';
import { AgentState } from './agent-state.tsx';
import './agents.css';
import { inTree } from './tree.ts';
import { type Agent, reachWords, scopeWords } from './words.ts';

const COLUMNS: readonly Column<Agent>[] = [
  {
    name: words.name,
    cell: ({ name, depth }) => (
      <span class={`agent-name depth-${depth}`}>
        {depth > 0 && <span aria-hidden="true">└ </span>}
        <a href={linkTo('agents', [name], keptQuery())}>{name}</a>
      </span>
    ),
    order: ({ name }) => name,
  },
  {
    name: words.state,
    cell: (agent) => <AgentState agent={agent} />,
    order: ({ phase }) => phase,
  },
  { name: words.ends, cell: ({ expiresAt }) => <Time at={expiresAt} />, order: ({ expiresAt }) => expiresAt },
  {
    name: words.may,
    cell: ({ scopes }) => <span title={scopeWords(scopes)}>{scopeWords(scopes)}</span>,
    isMinor: true,
  },
  { name: words.reach, cell: (agent) => reachWords(agent).join('; '), isMinor: true },
];

/** Agents with those that they delegated to, below them. */
export default function Agents() {
  const loaded = useLoaded(() => {
    workspaceId.value;
    return readAgents(route.value.query.has('ended'));
  });
  const rows = useComputed(() => {
    const search = route.value.query.get('q') ?? '';
    return inTree(loaded.value.value ?? []).filter(({ name, phase, scopes, person }) =>
      matches(search, [name, phase, scopeWords(scopes), person ?? '']),
    );
  });
  const [chosen] = route.value.rest;
  const { query } = route.value;
  const hasEnded = query.has('ended');
  const mayMake = may('agents:write') || may('network:read');
  return (
    <Page
      title={words.title}
      actions={
        <>
          <SearchBox label={words.search} />
          <button
            type="button"
            class="quiet"
            aria-pressed={hasEnded}
            onClick={() => setQuery({ ended: hasEnded ? undefined : '1' })}
          >
            {hasEnded ? words.hideEnded : words.showEnded}
          </button>
          {mayMake && (
            <a class="button primary" href={linkTo('connect')}>
              {words.connect}
            </a>
          )}
        </>
      }
    >
      <div class={`beside ${chosen ? 'chosen' : ''}`}>
        <Table
          read={loaded.value}
          label={words.title}
          columns={COLUMNS}
          rows={rows}
          keyOf={({ name }) => name}
          selected={chosen}
          open={({ name }) => goTo(linkTo('agents', [name], keptQuery()))}
          empty={
            <Empty>
              <WhyEmpty hasSearch={query.has('q')} />
            </Empty>
          }
        />
        {chosen && <AgentDetails key={chosen} name={chosen} />}
      </div>
    </Page>
  );
}

function WhyEmpty({ hasSearch }: { hasSearch: boolean }) {
  if (hasSearch) return <>{texts.common.noMatch}</>;
  if (!may('agents:write')) return <>{words.emptyViewer}</>;
  return (
    <>
      {words.empty}
      <a class="button" href={linkTo('connect')}>
        {words.connect}
      </a>
    </>
  );
}

/** Search and order stay when a row is opened. */
function keptQuery(): Record<string, string> {
  return Object.fromEntries(route.value.query);
}
