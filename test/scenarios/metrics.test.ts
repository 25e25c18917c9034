import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseYaml } from '../../tools/yaml.ts';
import { connectMcp } from '../kits/http/agent-client.ts';
import { startWiredPlane } from '../kits/http/wired-plane.ts';

/** Whatever labels may be called; each has a set of values that no request can add to. */
const LABELS = new Set([
  'relay',
  ...[
    'operation',
    'status',
    'tool',
    'outcome',
    'kind',
    'mode',
    'task',
    'phase',
    'check',
    'reason',
    'file',
    'direction',
  ],
  ...['percentile', 'le', 'version', 'edition'],
]);
const RULES = 'deploy/prometheus/mesh.rules.yml';
const DASHBOARD = 'deploy/grafana/mesh.json';

interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: Set<string>;
}

/** The metrics of a plane on which everything is on, and that was asked a few things. */
async function scrape(): Promise<{ readonly text: string; readonly families: ReadonlyMap<string, Family> }> {
  const env = { MESH_RELAY_URL: '127.0.0.1:1', MESH_LLM_BASE_URL: 'http://127.0.0.1:1/v1', MESH_LLM_MODEL: 'none' };
  await using plane = await startWiredPlane({ env });
  const { harness, admin } = plane;
  await plane.join('a');
  await using mcp = await connectMcp(harness.url, admin.token, 'legacy', admin.workspace);
  await mcp.use('list_peers');
  await mcp.use('plan_network_change', { intent: 'do the usual with the thing from last week' });
  const { text } = await harness.api('GET', '/metrics');
  return { text, families: familiesIn(text) };
}

function familiesIn(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let help = '';
  for (const line of text.trimEnd().split('\n')) {
    const [, helped, said = ''] = /^# HELP (\w+) (.*)$/.exec(line) ?? [];
    if (helped !== undefined) help = `${helped} ${said}`;
    const [, name = '', type = ''] = /^# TYPE (\w+) (\w+)$/.exec(line) ?? [];
    if (name !== '') {
      expect([name, help.startsWith(`${name} `)], 'has HELP before its TYPE').toEqual([name, true]);
      expect(families.has(name), `${name} comes once`).toBe(false);
      families.set(name, { name, type, help: help.slice(name.length + 1), labels: new Set() });
    }
    if (line.startsWith('#')) continue;
    const [, sample = '', labels = ''] = /^(\w+)(?:\{(.*)\})? (?:[-+\d.e]+|\+Inf|Infinity|NaN)$/.exec(line) ?? [];
    const family = families.get(sample) ?? families.get(sample.replace(/_(?:bucket|sum|count)$/, ''));
    expect([line, family !== undefined]).toEqual([line, true]);
    for (const [, label = ''] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) family?.labels.add(label);
  }
  return families;
}

/** Metrics that an expression of PromQL names. */
function namedIn(expression: string): string[] {
  return [...expression.replaceAll(/"[^"]*"/g, '').matchAll(/\b(?:mesh|process|nodejs)_\w+/g)].map(([name]) => name);
}

function expressions(): { readonly where: string; readonly expression: string }[] {
  const [rules] = parseYaml(readFileSync(RULES, 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  }[];
  const dashboard = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as {
    panels: { title: string; targets?: { expr: string }[] }[];
    templating: { list: { query: string | { query: string } }[] };
  };
  const alerts = (rules?.groups ?? []).flatMap(({ rules: all }) => all);
  return [
    ...alerts.map(({ alert, expr }) => ({ where: alert, expression: expr })),
    ...dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ where: title, expression: expr })),
    ),
    ...dashboard.templating.list.map(({ query }) => ({
      where: 'variables',
      expression: typeof query === 'string' ? '' : query.query,
    })),
  ];
}

test('each metric has its help, its type and bounded labels, and stands in docs/metrics.md', async () => {
  const { families } = await scrape();
  const all = [...families.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, type, help, labels } of all) {
    expect([name, help.length > 5]).toEqual([name, true]);
    expect([name, type === 'counter']).toEqual([name, name.endsWith('_total')]);
    expect([name, [...labels].filter((label) => !LABELS.has(label))]).toEqual([name, []]);
  }
  const rows = all.map(({ name, type, help, labels }) => {
    const own = [...labels].filter((label) => label !== 'le').map((label) => `\`${label}\``);
    return `| \`${name}\` | ${type} | ${own.join(', ')} | ${help} |`;
  });
  const page = [
    '# Metrics',
    '',
    'What `GET /metrics` tells, in the text format of Prometheus, as a running control plane answered it. What to watch, a dashboard',
    'and alert rules: [operating.md](operating.md#metrics); [all pages](README.md). Made by `npx vitest run --project scenario test/scenarios/metrics.test.ts -u`.',
    '',
    '| Metric | Type | Labels | What it says |',
    '|---|---|---|---|',
    ...rows,
    '',
  ];
  await expect(page.join('\n')).toMatchFileSnapshot('../../docs/metrics.md');
});

test('every metric that the alert rules and the dashboard name exists on a running control plane', async () => {
  const { families } = await scrape();
  const known = (name: string) => families.has(name) || families.has(name.replace(/_(?:bucket|sum|count)$/, ''));
  const all = expressions();
  const unknown = all.flatMap(({ where, expression }) =>
    namedIn(expression)
      .filter((name) => !known(name))
      .map((name) => `${where}: ${name}`),
  );
  expect(unknown).toEqual([]);
  expect(all.filter(({ expression }) => namedIn(expression).length > 0).length).toBeGreaterThan(40);
});

test('a metric that fails or does not answer shows what was read last, and is counted', async () => {
  const { createMetrics } = await import('../../rest/metrics.ts');
  const metrics = createMetrics();
  let answer: () => Promise<number> = async () => 3;
  metrics.gauge('peers', 'Read from the store', () => answer());
  metrics.append(async () => `jobs ${await answer()}\n`);
  await metrics.render();
  answer = () => Promise.reject(new Error('no primary'));
  expect(await metrics.render()).toMatch(/^peers 3\n[\s\S]*mesh_metrics_failed_total 2\njobs 3\n/m);
  answer = () => new Promise(() => undefined);
  expect(await metrics.render()).toMatch(/^peers 3\n[\s\S]*mesh_metrics_failed_total 4\njobs 3\n/m);
});

test('a metric that could never be read is left out and counted, and the others are told', async () => {
  const { createMetrics } = await import('../../rest/metrics.ts');
  const metrics = createMetrics();
  metrics.gauge('one', 'Reads', () => 1);
  metrics.gauge('broken', 'Does not read', () => Promise.reject(new Error('no')));
  metrics.gauge('endless', 'Has no end', () => Number.POSITIVE_INFINITY);
  metrics.gauge('quoted', 'Text', () => [{ labels: { text: 'a "b"\\\n' }, value: 2 }]);
  const text = await metrics.render();
  expect(text).toContain('# HELP one Reads\n# TYPE one gauge\none 1\n');
  expect(text).toContain('endless +Inf\n');
  expect(text).toContain('quoted{text="a \\"b\\"\\\\\\n"} 2\n');
  expect(text).toContain('mesh_metrics_failed_total 1\n');
  expect(text).not.toContain('broken');
});
