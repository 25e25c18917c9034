import { useComputed, useSignal } from '@preact/signals';
import { useAgentNames } from '../../api/agents.ts';
import { useLoaded } from '../../api/load.ts';
import type { Finding, Policy } from '../../api/types.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { goTo, linkTo, route, setQuery } from '../../route/route.ts';
import { policies as words } from '../../texts/policies.ts';
import { texts } from '../../texts/texts.ts';
import { type AgentNames, isForAgent, withAgentNames } from '../../ui/agent-names.ts';
import { Empty, Page } from '../../ui/page.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { type Column, matches, SearchBox, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { FindingLine } from './finding-line.tsx';
import { type Findings, readFindings, readPolicies } from './read-policies.ts';
import { sentencesOf } from './sentence.ts';

interface Row {
  readonly policy: Policy;
  readonly title: string;
  readonly says: string;
  readonly findings: readonly Finding[];
}

const COLUMNS: readonly Column<Row>[] = [
  {
    name: words.name,
    cell: ({ policy: { name }, title }) => <a href={addressOf(name)}>{title}</a>,
    order: ({ title }) => title,
  },
  { name: words.says, cell: ({ says }) => <span title={says}>{says}</span>, isMinor: true },
  {
    name: words.action,
    cell: ({ policy }) => <Action action={String(policy.spec['action'])} />,
    order: ({ policy }) => String(policy.spec['action']),
  },
  {
    name: words.about,
    cell: ({ policy: { status } }) => status.matchedPeers,
    order: ({ policy: { status } }) => status.matchedPeers,
    isNumber: true,
    isMinor: true,
  },
  {
    name: words.ends,
    cell: ({ policy: { spec } }) => <Ends at={spec['expiresAt']} />,
    order: ({ policy: { spec } }) => String(spec['expiresAt'] ?? '9'),
    isMinor: true,
  },
  {
    name: words.findings,
    cell: ({ findings }) => findings.length > 0 && <span class="tag warn">▲ {findings.length}</span>,
    order: ({ findings }) => findings.length,
    isNumber: true,
  },
];

/** All policies with what each says, and what is probably not meant about them. */
export function PolicyList() {
  const loaded = useLoaded((abort) => {
    workspaceId.value;
    return readPolicies(route.value.query.get('at'), abort);
  });
  const lint = useLoaded((abort) => readFindings(route.value.query.get('at'), abort));
  const agents = useAgentNames();
  const all = useComputed(() => {
    const policies = loaded.value.value ?? [];
    const findings = lint.value.value?.items ?? [];
    const { query } = route.value;
    const search = query.get('q') ?? '';
    const about = Map.groupBy(findings, ({ policies: [name = ''] }) => name);
    return policies
      .map((policy): Row => {
        const named = (text: string) => withAgentNames(text, agents.value.value);
        const says = named(shownSentences(policy));
        return { policy, title: named(policy.name), says, findings: about.get(policy.name) ?? [] };
      })
      .filter(
        ({ policy, title, says, findings: own }) =>
          (!query.has('findings') || own.length > 0) &&
          matches(search, [policy.name, title, says, ...own.map(({ why }) => why)]),
      );
  });
  const rows = useComputed(() => all.value.filter(({ policy: { name } }) => !isForAgent(name)));
  const forAgents = useComputed(() => all.value.filter(({ policy: { name } }) => isForAgent(name)));
  const { query } = route.value;
  const isFiltered = query.has('q') || query.has('findings');
  const mayChange = may('network:write') && !query.has('at');
  return (
    <Page
      title={words.title}
      actions={
        <>
          <SearchBox label={words.search} />
          <a class="button" href={linkTo('policies', [], { view: 'tests' })}>
            {words.tests}
          </a>
          {mayChange && (
            <a class="button primary" href={linkTo('policies', [], { view: 'new' })}>
              {words.create}
            </a>
          )}
        </>
      }
    >
      <ReadResult of={lint.value}>
        {(findings) => <FindingList findings={findings} agents={agents.value.value} />}
      </ReadResult>
      <ReadResult of={agents.value} loading="" />
      {(rows.value.length > 0 || forAgents.value.length === 0) && (
        <Table
          read={loaded.value}
          label={words.title}
          columns={COLUMNS}
          rows={rows}
          keyOf={({ policy }) => policy.name}
          open={({ policy }) => goTo(addressOf(policy.name))}
          empty={
            <Empty>
              {isFiltered ? (
                texts.common.noMatch
              ) : (
                <>
                  <span>{words.empty}</span>
                  {may('intents:plan') && <a href={linkTo('change')}>{words.emptyNext}</a>}
                </>
              )}
            </Empty>
          }
        />
      )}
      {forAgents.value.length > 0 && (
        <details class="stack-small" open={isFiltered}>
          <summary>{words.forAgents(forAgents.value.length)}</summary>
          <Table
            label={words.forAgents(forAgents.value.length)}
            isPart
            read={loaded.value}
            columns={COLUMNS}
            rows={forAgents}
            keyOf={({ policy }) => policy.name}
            open={({ policy }) => goTo(addressOf(policy.name))}
            empty={null}
          />
        </details>
      )}
    </Page>
  );
}

function addressOf(name: string): string {
  return linkTo('policies', [name]);
}

/** Rules that are said in a list; all of them on the policy's page. */
const SAID = 2;

function shownSentences({ spec }: Policy): string {
  const all = sentencesOf(spec);
  const more = all.length > SAID ? [words.moreRules(all.length - SAID)] : [];
  return [...all.slice(0, SAID), ...more].join('; ');
}

function Action({ action }: { action: string }) {
  return action === 'DENY' ? (
    <span class="tag danger">⊘ {words.state.DENY}</span>
  ) : (
    <span class="tag ok">→ {words.state.ALLOW}</span>
  );
}

function Ends({ at }: { at: unknown }) {
  return typeof at === 'string' ? <Time at={at} /> : <span class="dim">{words.noEnd}</span>;
}

/** Findings that are shown before all are asked for. */
const SHOWN = 3;

interface FindingListProps {
  readonly findings: Findings;
  readonly agents: AgentNames | undefined;
}

function FindingList({ findings: { items: findings, isWhole: isCompared }, agents }: FindingListProps) {
  const isWhole = useSignal(false);
  if (findings.length === 0) return isCompared ? null : <p class="dim">{words.lintOff}</p>;
  const shown = isWhole.value ? findings : findings.slice(0, SHOWN);
  const isOnly = route.value.query.has('findings');
  return (
    <section class="notice warn findings" aria-label={words.findings}>
      <div class="row">
        <strong>{words.lint(findings.length)}</strong>
        <label class="check push">
          <input type="checkbox" checked={isOnly} onChange={() => setQuery({ findings: isOnly ? undefined : '1' })} />
          {words.only}
        </label>
      </div>
      <ul class="stack-small">
        {shown.map((finding) => (
          <li key={JSON.stringify(finding)}>
            <a href={addressOf(finding.policies[0] ?? '')}>{withAgentNames(finding.policies[0] ?? '', agents)}</a>{' '}
            <FindingLine finding={finding} />
          </li>
        ))}
      </ul>
      {findings.length > shown.length && (
        <button type="button" class="link" onClick={() => (isWhole.value = true)}>
          {words.showAll(findings.length)}
        </button>
      )}
      {!isCompared && <p class="dim">{words.lintOff}</p>}
    </section>
  );
}
