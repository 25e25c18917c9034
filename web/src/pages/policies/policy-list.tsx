import { useComputed, useSignal } from '@preact/signals';
import { useAgentNames } from '../../api/agents.ts';
import { useLoaded } from '../../api/load.ts';
import type { Finding, Policy } from '../../api/types.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { Chip } from '../../design/chip.tsx';
import { Flow } from '../../design/flow.tsx';
import { Icon } from '../../design/icon.tsx';
import { goTo, linkTo, queryPart, route, setQuery } from '../../route/route.ts';
import { type AgentNames, withAgentNames, withAgentNamesIn } from '../../ui/agent-names.ts';
import { CsvButton } from '../../ui/csv.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { type Column, matches, NO_MATCH, SearchBox, Table, type TableProps } from '../../ui/table.tsx';
import { FindingLine } from './finding-line.tsx';
import { heldBy, titleOf } from './held.ts';
import { PolicyTime } from './policy-time.tsx';
import { type Findings, readFindings, readPolicies } from './read-policies.ts';
import { actionOf, type Rule, rulesOf } from './sentence.ts';

interface Row {
  readonly policy: Policy;
  readonly title: string;
  readonly rules: readonly Rule[];
  readonly findings: readonly Finding[];
}

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Name',
    cell: ({ policy: { name }, title }) => <a href={addressOf(name)}>{title}</a>,
    order: ({ title }) => title,
  },
  {
    name: 'Action',
    cell: ({ policy: { spec }, rules }) => <Action action={actionOf(spec, rules)} waits={'startsAt' in spec} />,
    order: ({ policy: { spec }, rules }) => actionOf(spec, rules),
  },
  { name: 'Rule', cell: ({ rules }) => <Rules rules={rules} />, isWide: true },
  {
    name: 'Peers',
    cell: ({ policy: { status } }) => status.matchedPeers,
    order: ({ policy: { status } }) => status.matchedPeers,
    isNumber: true,
    isMinor: true,
  },
  {
    name: 'Begins',
    cell: ({ policy: { spec } }) => <PolicyTime at={spec['startsAt']} />,
    order: ({ policy: { spec } }) => String(spec['startsAt'] ?? ''),
    isMinor: true,
  },
  {
    name: 'Ends',
    cell: ({ policy: { spec } }) => <PolicyTime at={spec['expiresAt']} none="no end" />,
    order: ({ policy: { spec } }) => String(spec['expiresAt'] ?? '9'),
    isMinor: true,
  },
  {
    name: 'Findings',
    cell: ({ findings }) => findings.length > 0 && <Chip tone="warn">▲ {findings.length}</Chip>,
    order: ({ findings }) => findings.length,
    isNumber: true,
    isMinor: true,
  },
];

/** All policies with what each says, and what is probably not meant about them. */
export function PolicyList() {
  const loaded = useLoaded((abort) => {
    workspaceId.value;
    return readPolicies(queryPart('at'), abort);
  });
  const lint = useLoaded((abort) => readFindings(queryPart('at'), abort));
  const agents = useAgentNames();
  const all = useComputed(() => {
    const policies = loaded.value.value ?? [];
    const findings = lint.value.value?.items ?? [];
    const { query } = route.value;
    const search = query.get('q') ?? '';
    const about = Map.groupBy(findings, ({ policies: [name = ''] }) => name);
    return policies
      .map((policy): Row => {
        const rules = withAgentNamesIn(rulesOf(policy.spec), agents.value.value);
        const title = titleOf(policy, agents.value.value);
        return { policy, title, rules, findings: about.get(policy.name) ?? [] };
      })
      .filter(
        ({ policy, title, rules, findings: own }) =>
          (!query.has('findings') || own.length > 0) &&
          matches(search, [policy.name, title, ...rules.flatMap(Object.values), ...own.map(({ why }) => why)]),
      );
  });
  const rowsOf = (holder: ReturnType<typeof heldBy>) =>
    useComputed(() => all.value.filter(({ policy }) => heldBy(policy) === holder));
  const rows = rowsOf(undefined);
  const held = { agents: rowsOf('agents'), workloads: rowsOf('workloads') };
  const isAnyHeld = held.agents.value.length + held.workloads.value.length > 0;
  const { query } = route.value;
  const isFiltered = query.has('q') || query.has('findings');
  const mayChange = may('network:write') && !query.has('at');
  return (
    <Page
      title="Policies"
      actions={
        <>
          <SearchBox label="Search policies" />
          <CsvButton name="policies" rows={() => csvOf(all.value)} />
          <a class="button" href={linkTo('policies', [], { view: 'tests' })}>
            Tests
          </a>
          {mayChange && (
            <a class="button primary" href={linkTo('policies', [], { view: 'new' })}>
              New policy
            </a>
          )}
        </>
      }
    >
      <ReadResult of={lint.value}>
        {(findings) => <FindingList findings={findings} agents={agents.value.value} />}
      </ReadResult>
      <ReadResult of={agents.value} loading="" />
      {(rows.value.length > 0 || !isAnyHeld) && (
        <Table
          read={loaded.value}
          label="Policies"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ policy }) => policy.name}
          open={({ policy }) => goTo(addressOf(policy.name))}
          empty={
            <Empty>
              {isFiltered ? (
                NO_MATCH
              ) : (
                <>
                  <span>No policies yet. The default of each network decides who may reach whom.</span>
                  {may('intents:plan') && (
                    <a class="button" href={linkTo('change')}>
                      Plan a change
                    </a>
                  )}
                </>
              )}
            </Empty>
          }
        />
      )}
      {Object.entries(held).map(([holder, policies]) => (
        <Held key={holder} title={`Made for ${holder}`} rows={policies} read={loaded.value} isOpen={isFiltered} />
      ))}
    </Page>
  );
}

interface HeldProps extends Pick<TableProps<Row>, 'rows' | 'read'> {
  readonly title: string;
  readonly isOpen: boolean;
}

/** Policies of presets, which nobody changes. */
function Held({ title, isOpen, ...table }: HeldProps) {
  const label = `${title} (${table.rows.value.length})`;
  if (table.rows.value.length === 0) return null;
  return (
    <details class="stack-small" open={isOpen}>
      <summary>{label}</summary>
      <Table
        {...table}
        label={label}
        isPart
        columns={COLUMNS}
        keyOf={({ policy }) => policy.name}
        open={({ policy }) => goTo(addressOf(policy.name))}
        empty={null}
      />
    </details>
  );
}

function csvOf(rows: readonly Row[]): string[][] {
  const head = ['Name', 'Action', 'Rule', 'From', 'To', 'Ports', 'Peers', 'Begins', 'Ends'];
  const lines = rows.flatMap(({ policy: { name, spec, status }, title, rules }) =>
    rules.map((rule, index) => {
      const ends = 'closes' in rule ? [rule.closes, '', ''] : [rule.from, rule.to, rule.ports];
      const times = [spec['startsAt'] ?? '', spec['expiresAt'] ?? ''];
      return [title || name, spec['action'], index + 1, ...ends, status.matchedPeers, ...times].map(String);
    }),
  );
  return [head, ...lines];
}

function addressOf(name: string): string {
  return linkTo('policies', [name]);
}

/** The first rule; all of them are on the policy's page. */
function Rules({ rules: [first, ...more] }: { rules: readonly Rule[] }) {
  if (!first) return null;
  return (
    <span class="row rule-cell">
      {'closes' in first ? <span title={first.closes}>{first.closes}</span> : <Flow {...first} />}
      {more.length > 0 && <span class="dim small">and {more.length} more</span>}
    </span>
  );
}

function Action({ action, waits }: { action: ReturnType<typeof actionOf>; waits: boolean }) {
  if (waits) {
    return (
      <Chip>
        <Icon name="clock" /> will {action === 'default deny' ? 'deny by default' : action}
      </Chip>
    );
  }
  return action === 'allow' ? (
    <Chip tone="ok">
      <Icon name="check" /> allow
    </Chip>
  ) : (
    <Chip tone="danger">
      <Icon name="ban" /> {action}
    </Chip>
  );
}

/** Findings that are shown before all are asked for. */
const SHOWN = 3;

interface FindingListProps {
  readonly findings: Findings;
  readonly agents: AgentNames | undefined;
}

function FindingList({ findings: { items: findings, isWhole: isCompared }, agents }: FindingListProps) {
  const isWhole = useSignal(false);
  if (findings.length === 0)
    return isCompared ? null : (
      <p class="dim">Too many rules to compare with each other: only each rule by itself was checked.</p>
    );
  const shown = isWhole.value ? findings : findings.slice(0, SHOWN);
  const isOnly = queryPart('findings') !== null;
  return (
    <section class="notice warn findings" aria-label="Findings">
      <div class="row">
        <strong>
          {findings.length === 1
            ? '1 finding, probably not intended'
            : `${findings.length} findings, probably not intended`}
        </strong>
        <label class="check push">
          <input type="checkbox" checked={isOnly} onChange={() => setQuery({ findings: isOnly ? undefined : '1' })} />
          Only with findings
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
          Show all {findings.length}
        </button>
      )}
      {!isCompared && (
        <p class="dim">Too many rules to compare with each other: only each rule by itself was checked.</p>
      )}
    </section>
  );
}
