import { getToolUiResourceUri } from '@modelcontextprotocol/ext-apps/app-bridge';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectMcp, SHOWS_VIEWS } from '../kits/http/agent-client.ts';
import { apiToken } from '../kits/http/network-setup.ts';
import { hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { OWN_PASSWORD, type PastNetwork, startPastNetwork } from '../kits/web/past-network.ts';
import { type ShownView, startViewHost, type ViewHostOptions } from '../kits/web/view-host.ts';

const INTENT = 'let role=web reach role=db on port 5432';
const HOSTILE = '<img src=x onerror=alert(1)><script>alert(2)</script>';
const WIDTH = 300;
/** All that a view may say to the window around it; `answer` is one to what it was asked. */
const SAID = [
  'ui/notifications/sandbox-proxy-ready',
  'ui/initialize',
  'ui/notifications/initialized',
  'ui/notifications/size-changed',
  'ui/open-link',
  'answer',
];

type Json = Readonly<Record<string, unknown>>;
type Answer = Awaited<ReturnType<Awaited<ReturnType<typeof connectMcp>>['client']['callTool']>>;

/** A call of each kind of answer that has a view, with something that the view then shows. */
const CALLS: readonly (readonly [tool: string, args: Json, shows: string | RegExp])[] = [
  ['plan_network_change', { intent: INTENT }, 'Opens'],
  ['check_connectivity', { src: 'ada-laptop', dst: 'orders-db' }, 'Why'],
  ['check_connectivity', { dst: 'orders-db' }, /of \d+ pairs are reachable/],
  ['explain_denial', { src: 'web-1', dst: 'orders-db', port: 5432 }, 'How to allow it'],
  ['check_connectivity_at', { src: 'web-1', dst: 'orders-db', at: -12 }, 'Now'],
  ['check_connectivity_at', { src: 'web-1', dst: 'orders-db', from: -24 }, 'MeshPolicy web-to-db'],
  ['check_connectivity_at', { dst: 'orders-db', from: -24 }, 'Peers that could reach orders-db'],
  ['find_cause', { src: 'web-1', dst: 'orders-db', port: 5432, from: -24 }, /The plan plan_\w+ reverts it/],
];

/** Arguments in which a negative number stands for so many hours ago. */
function asked(args: Json): Json {
  const instant = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const told = Object.entries(args).map(([name, value]) => [name, Number(value) < 0 ? instant(Number(value)) : value]);
  return Object.fromEntries(told);
}

describe.skipIf(!hasBrowser)('a client with MCP Apps', () => {
  let browser: Browser;
  let network: PastNetwork;
  let host: Awaited<ReturnType<typeof startViewHost>>;
  let agent: Awaited<ReturnType<typeof connectMcp>>;
  let htmlOf: ReadonlyMap<string, string>;
  beforeAll(async () => {
    [browser, network] = await Promise.all([launchBrowser(), startPastNetwork()]);
    host = await startViewHost(browser);
    const token = await apiToken(network, { token: await network.owner(), workspace: network.workspace });
    agent = await connectMcp(network.url, token, { pin: '2026-07-28' }, undefined, SHOWS_VIEWS);
    htmlOf = await viewsOf(agent.client);
  });
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
    await browser.close();
    await network[Symbol.asyncDispose]();
  });

  const call = (name: string, args: Json): Promise<Answer> => agent.client.callTool({ name, arguments: args });
  const open = (tool: string, options?: ViewHostOptions) => host.open(htmlOf.get(tool) ?? '', options);
  async function show(tool: string, args: Json, options?: ViewHostOptions) {
    const [shown, answer] = await Promise.all([open(tool, options), call(tool, args)]);
    await shown.tell(args, answer);
    return { shown, answer, told: (answer.structuredContent ?? {}) as Json };
  }

  test('shows what a plan opens and closes, and opens Review, where a person decides what came of it', async () => {
    const { shown, told } = await show('plan_network_change', { intent: INTENT });
    await using _page = shown;
    const { view } = shown;
    await view.getByRole('heading', { name: String(told['summary']) }).waitFor();
    const opens = view.getByRole('region', { name: 'Opens' });
    await opens.getByText('web-1, web-2').waitFor();
    await opens.getByText('orders-db').waitFor();
    await opens.getByText('TCP 5432').waitFor();
    await view.getByText('nothing has changed').waitFor();
    await view.getByText(/create MeshPolicy/).click();
    await view.locator('ins', { hasText: 'port: 5432' }).waitFor();
    await view.getByRole('button', { name: 'Open Review in the browser' }).click();
    const review = `${network.url}/#/${network.workspace}/review`;
    await expect.poll(shown.opened).toEqual([review]);

    const { plan_id: plan } = told;
    const applied = await show('apply_network_change', { plan_id: plan });
    await using _other = applied.shown;
    await applied.shown.view.getByText('Awaiting approval. Nothing has changed yet.').waitFor();
    await applied.shown.view.getByRole('button', { name: 'Open Review in the browser' }).click();
    await expect.poll(applied.shown.opened).toEqual([applied.told['approval_url']]);

    const waiting = await show('get_workflow', { id: applied.told['workflow_id'] });
    await using _third = waiting.shown;
    await waiting.shown.view.getByText('awaiting approval', { exact: true }).waitFor();
    await waiting.shown.view.getByRole('region', { name: 'Opens' }).getByText('TCP 5432').waitFor();
    expect(await waiting.shown.view.getByRole('button').count()).toBe(1);

    await using dashboard = await openDashboard(browser, network);
    await dashboard.go(review.split('#/')[1] ?? '');
    await dashboard.signIn('admin', OWN_PASSWORD);
    const queue = dashboard.page.getByRole('navigation', { name: 'Waiting for a decision' });
    await queue.getByText(String(told['summary'])).waitFor();
    expect(dashboard.page.url()).toContain('#/prod/review');
    expect([...shown.complaints, ...applied.shown.complaints, ...waiting.shown.complaints]).toEqual([]);
  });

  test.each([
    ['check_connectivity', CALLS[1]?.[1], 'reachability?src=ada-laptop&dst=orders-db'],
    ['check_connectivity_at', CALLS[4]?.[1], /^reachability\?src=web-1&dst=orders-db&at=2/],
    ['check_connectivity_at', CALLS[5]?.[1], /^time\?from=2[^&]+&to=2/],
    ['find_cause', CALLS[7]?.[1], /^time\?from=2[^&]+&to=2/],
    ['find_cause', { question: 'since when can web-1 not reach orders-db?' }, /^ask\?q=since\+when.*&from=2.*&to=2/],
  ])('leads from an answer of %s %j to its page in the dashboard', async (tool, args = {}, address) => {
    const { shown } = await show(tool, asked(args));
    await using _page = shown;
    await shown.view.getByRole('button', { name: /in the browser$/ }).click();
    await expect.poll(async () => (await shown.opened())[0]).toMatch(`${network.url}/#/${network.workspace}/`);
    expect((await shown.opened())[0]?.split(`${network.workspace}/`)[1]).toMatch(address);
  });

  test.each(CALLS)(
    'shows the answer of %s %j at 300 px and whole, without a barrier, with no request, in light and dark',
    async (tool, args, shows) => {
      for (const theme of ['light', 'dark'] as const) {
        const { shown } = await show(tool, asked(args), { theme, width: WIDTH });
        await using _page = shown;
        await shown.view.getByText(shows).first().waitFor();
        expect.soft(await shown.faults(), theme).toEqual([]);
        // The host gives it the height that it asks for.
        const overflow = () =>
          shown.inView<number[]>(
            '[document.documentElement.scrollWidth, document.documentElement.scrollHeight - innerHeight]',
          );
        await expect.poll(overflow, { message: theme }).toEqual([WIDTH, 0]);
        expect.soft(await shown.inView('getComputedStyle(document.documentElement).colorScheme')).toBe(theme);
        expect.soft(shown.complaints, theme).toEqual([]);
        expect((await shown.heard()).filter((method) => !SAID.includes(method))).toEqual([]);
      }
    },
  );

  test('follows the theme of the host, and ends when asked', async () => {
    const { shown } = await show('check_connectivity', { src: 'ada-laptop', dst: 'orders-db' });
    await using _page = shown;
    await shown.call('theme', 'dark');
    await expect.poll(() => shown.inView('document.documentElement.dataset.theme')).toBe('dark');
    await shown.call('theme', 'none');
    await shown.call('leave');
    expect(await shown.inView('document.documentElement.dataset.theme')).toBe('dark');
  });

  test('shows names and words of others as text, wherever they stand', async () => {
    for (const [tool, args] of CALLS) {
      const answer = await call(tool, asked(args));
      await using shown = await open(tool);
      await shown.tell(args, { ...answer, structuredContent: hostile(answer.structuredContent) as Json });
      await shown.view.getByText(HOSTILE).first().waitFor();
      await openAll(shown);
      const drawn = await shown.inView<number>("document.querySelectorAll('#app :is(img, script)').length");
      expect([tool, drawn, shown.complaints]).toEqual([tool, 0, []]);
    }
  });

  test('hears nobody but the window around it', async () => {
    await using shown = await open('check_connectivity');
    const forged = { content: [{ type: 'text', text: 'forged' }] };
    const message = { jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: forged };
    await shown.call('forge', message);
    await shown.inView(`postMessage(${JSON.stringify(message)}, '*')`);
    await shown.call('forge', { jsonrpc: '2.0', id: 1, method: 'ping' });
    await shown.tell({}, { content: [{ type: 'text', text: 'as a client without structure keeps it' }] });
    await shown.view.getByText('as a client without structure keeps it').waitFor();
    expect(await shown.view.getByText('forged').count()).toBe(0);
    expect((await shown.heard()).filter((method) => method === 'answer')).toEqual([]);
  });

  test('cannot be made to ask the network for anything, in or out of the policy of its host', async () => {
    await using shown = await open('find_cause');
    const fetched = await shown.inView<string>(`fetch('${network.url}').then(() => 'answered', () => 'refused')`);
    expect(fetched).toBe('refused');
    await using alone = await browser.newPage();
    await alone.setContent(htmlOf.get('find_cause') ?? '');
    const refused = alone.evaluate(`new Promise((resolve) => {
      addEventListener('securitypolicyviolation', ({ effectiveDirective }) => resolve(effectiveDirective));
      fetch('${network.url}').catch(() => undefined);
    })`);
    expect(await refused).toBe('connect-src');
    await alone.evaluate(`document.head.append(Object.assign(document.createElement('script'), { text: '' }))`).then(
      () => expect.unreachable(),
      (error: Error) => expect(error.message).toContain('TrustedScript'),
    );
  });

  test('that opens no links is told the address, and one that refuses is told so', async () => {
    const approval = { workflow_id: 'wf_1', status: 'pending_approval', message: '', auto_approve: false };
    const answer = (url: string) => ({ content: [], structuredContent: { ...approval, approval_url: url } });
    await using without = await open('apply_network_change', { capabilities: {} });
    await without.tell({}, answer('https://mesh.test/#/workflows/wf_1'));
    await without.view.getByText('In the browser: https://mesh.test/#/workflows/wf_1').waitFor();
    expect(await without.view.getByRole('button').count()).toBe(0);

    await using refusing = await open('apply_network_change', { refuses: true });
    await refusing.tell({}, answer('https://mesh.test/#/workflows/wf_1'));
    await refusing.view.getByRole('button').click();
    await refusing.view.getByText('Could not open it. Address: https://mesh.test/#/workflows/wf_1').waitFor();

    await using script = await open('apply_network_change');
    await script.tell({}, answer('javascript:alert(1)'));
    await script.view.getByText('awaiting approval', { exact: true }).waitFor();
    expect(await script.view.getByRole('button').count()).toBe(0);
  });

  test('shows a refusal as its sentence, a call that was taken back, and what it cannot draw as text', async () => {
    const { shown, answer } = await show('check_connectivity', { src: 'nobody', dst: 'orders-db' });
    await using _page = shown;
    expect(answer.isError).toBe(true);
    await shown.view.getByRole('alert').getByText('nobody').waitFor();
    await using cancelled = await open('check_connectivity');
    await cancelled.view.getByText('Waiting for the answer').waitFor();
    await cancelled.call('cancel');
    await cancelled.view.getByText('The call was cancelled.').waitFor();
    await using odd = await open('find_cause');
    const later = {
      content: [{ type: 'text' as const, text: 'of a later version' }],
      structuredContent: { findings: 7 },
    };
    await odd.tell({}, { ...later, _meta: { 'mesh/dashboard': 'https://mesh.test/#/w_1' } });
    await odd.view.getByText('of a later version').waitFor();
  });
});

/** The page of each tool that has one, found and read as the extension says. */
async function viewsOf(client: Awaited<ReturnType<typeof connectMcp>>['client']): Promise<ReadonlyMap<string, string>> {
  const { tools } = await client.listTools();
  const views = new Map<string, string>();
  for (const tool of tools) {
    const uri = getToolUiResourceUri(tool);
    if (uri === undefined) continue;
    const { contents } = await client.readResource({ uri });
    const [page] = contents;
    if (page && 'text' in page) views.set(tool.name, page.text);
  }
  return views;
}

/** Fields of which the API has a closed list of values. */
const CLOSED =
  /^(verdict|check|read_by|risk_level|status|protocol|stage|result|change|at|from|to|.*_at|valid_.*|known_since)$/;

/** An answer with markup in each text that others may have written. */
function hostile(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return CLOSED.test(name) || value === 'ALL' ? value : `${value}${HOSTILE}`;
  if (Array.isArray(value)) return value.map((each) => hostile(each, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hostile(each, key)]));
}

async function openAll({ view }: ShownView): Promise<void> {
  for (const closed of await view.locator('details:not([open]) > summary').all()) await closed.click();
}
