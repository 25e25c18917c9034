import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { joinDevice } from '../kits/http/network-setup.ts';
import { planIdOf } from '../kits/http/plan-id.ts';
import { enrolSecondFactor } from '../kits/http/second-factor.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { member, ownPassword, PASSWORD } from '../kits/web/page-people.ts';
import { tabTo } from '../kits/web/tab-to.ts';

const BASE = { action: 'ALLOW', peerSelector: {}, ingress: [] };
const INTENT = 'let role=web reach role=db on port 5432';
const CARD = { role: 'db', 'compliance.scope': 'cde' };

/** Two web servers and a database with cardholder data; what an agent and an operator ask for waits. */
/** The height of the lowest text of the picture, CSS pixels, and how many texts lie on one before them. */
const TEXTS = `(() => {
  const all = [...document.querySelectorAll('.effect-graph text')].map((text) => text.getBoundingClientRect());
  const isOn = (a, b) => a.top < b.bottom && b.top < a.bottom && a.left < b.right && b.left < a.right;
  return {
    lowest: Math.min(...all.map(({ height }) => height)),
    overlapping: all.filter((one, index) => all.slice(0, index).some((other) => isOn(one, other))).length,
  };
})()`;

async function startScene() {
  const harness = await startHarness();
  const { workspace, token: first } = await harness.workspace();
  const devices = [
    ['web-1', { role: 'web' }],
    ['web-2', { role: 'web' }],
    ['orders-db', CARD],
    ['build-7', { role: 'ci' }],
  ] as const;
  for (const [name, labels] of devices) await joinDevice(harness, { token: first, workspace }, name, labels);
  const own = { token: await ownPassword(harness), workspace };
  const post = async (session: { token: string }, route: string, body: object) =>
    (await harness.api('POST', route, { ...session, workspace, body })).body;
  await post(own, '/api/v1/policies', { name: 'base', spec: BASE });
  const guard = { name: 'db-never-to-web', src: 'role=db', dst: 'role=web', expect: 'unreachable' };
  await post(own, '/api/v1/assertions', guard);
  const ssh = { name: 'no-ssh', src: 'role=web', dst: 'role=db', port: 22, expect: 'unreachable' };
  await post(own, '/api/v1/assertions', ssh);
  for (const [name, role] of [
    ['olga', 'operator'],
    ['vera', 'viewer'],
  ] as const)
    await member(harness, own, name, role);
  const toWeb = { to: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 443 }] };
  const scopes = ['network:read', 'intents:plan', 'intents:apply'];
  const agent = await post(own, '/api/v1/agents', { name: 'ops-agent', ttl: '8h', scopes, reach: [toWeb] });
  const ask = async (session: { token: string }, intent = INTENT): Promise<string> => {
    const plan = await post(session, '/api/v1/ai/intent/plan', { workspace_id: workspace, intent, dry_run: false });
    const done = await post(session, '/api/v1/ai/intent/apply', { plan_id: planIdOf(plan), approved_by: 'olga' });
    return done.workflow_id;
  };
  return {
    harness,
    own,
    ask,
    post,
    agent: { token: agent.token as string },
    login: async (name: string) => ({ token: await harness.login(name, PASSWORD), workspace }),
    join: (name: string) => joinDevice(harness, own, name, { role: 'web' }),
    workflow: async (id: string) => (await harness.api('GET', `/api/v1/workflows/${id}`, own)).body,
  };
}

describe.skipIf(!hasBrowser)('Review on the dashboard', () => {
  let browser: Browser;
  let scene: Awaited<ReturnType<typeof startScene>>;
  beforeAll(async () => {
    [browser, scene] = await Promise.all([launchBrowser(), startScene()]);
  });
  afterAll(async () => {
    await browser.close();
    await scene.harness[Symbol.asyncDispose]();
  });
  const openAs = async (name: string, address: string, on: Pick<Harness, 'url'> = scene.harness) => {
    const dashboard = await openDashboard(browser, on);
    await dashboard.go(address);
    await dashboard.signIn(name, PASSWORD);
    return { ...dashboard, change: dashboard.page.getByRole('article') };
  };

  test('one screen says who asked within which bound, what opens by kinds and in pairs, and which assertions and controls it touches', async () => {
    const id = await scene.ask(scene.agent);
    await using dashboard = await openAs('olga', `prod/review/${id}`);
    const { page, change } = dashboard;
    await change.getByText('May open: role=web on TCP 443').waitFor();
    await change.getByText('on behalf of admin').waitFor();
    const opens = change.getByRole('region', { name: 'Opens' });
    await opens.getByText('role=web (2 peers)').click();
    await opens.getByText(/web-2 →\s*to orders-db/).waitFor();
    const checks = change.getByRole('region', { name: 'Assertions and controls' });
    await checks.getByText('2 of 2 assertions hold after it').waitFor();
    await checks.getByRole('link', { name: 'no-ssh' }).waitFor();
    expect(await checks.getByRole('link', { name: 'db-never-to-web' }).count()).toBe(0);
    await checks.getByText('PCI 1.2.5').first().waitFor();
    await checks.getByText(/PCI DSS: \d+ controls still pass/).waitFor();
    await change.getByText('You did not request this change').waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    for (const name of [/^Approve/, 'Reject', 'Request changes']) {
      const box = await change.getByRole('button', { name }).boundingBox();
      expect(box && box.y + box.height).toBeLessThanOrEqual(800);
    }
    await change.getByRole('img', { name: /^Opens: role=web \(2 peers\) to orders-db, TCP 5432\./ }).waitFor();
    await change.getByRole('link', { name: 'History of orders-db' }).click();
    await page.getByRole('heading', { name: 'Time' }).waitFor();
    expect(page.url()).toContain('name=orders-db');
    expect(dashboard.complaints).toEqual([]);
    await scene.harness.api('POST', `/api/v1/workflows/${id}/reject`, { ...scene.own, body: {} });
  });

  test('where the network has changed since, the effect is drawn again with what differs, and approving means the new one', async () => {
    const id = await scene.ask(scene.agent);
    await scene.join('web-3');
    await using dashboard = await openAs('olga', `prod/review/${id}`);
    const { page, change } = dashboard;
    await change.getByText('The network has changed since this was put forward.').waitFor();
    await change
      .getByText(/web-3 →\s*to orders-db/)
      .first()
      .waitFor();
    await change.getByText('Then 2 pairs opened, 0 pairs closed; now 3 pairs opened, 0 pairs closed.').waitFor();
    await change.getByText('1 change of the network since this was put forward').click();
    await change.getByRole('link', { name: 'All of them in Time' }).waitFor();

    // It changes again while the person looks at it.
    await scene.join('web-4');
    await change.getByText('The network has just changed.').waitFor();
    const approve = page.getByRole('button', { name: 'Approve: role=web (3 peers) → orders-db on TCP 5432' });
    expect(await approve.isDisabled()).toBe(true);
    await change.getByRole('button', { name: 'Draw it again' }).click();
    await page.getByRole('button', { name: 'Approve: role=web (4 peers) → orders-db on TCP 5432' }).click();
    await page.getByRole('status').filter({ hasText: 'The change is executed.' }).waitFor();
    expect(await scene.workflow(id)).toMatchObject({ status: 'executed', effect: { opened_pairs: 4 } });

    // Undone as a plan, which waits for somebody else in its turn.
    await change.getByRole('button', { name: 'Revert', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Revert' });
    await dialog.getByText('It waits in Review until it is approved').waitFor();
    // Her own approval would not count.
    expect(await dialog.getByRole('combobox', { name: 'Approver' }).inputValue()).not.toBe('olga');
    await dialog.getByRole('button', { name: 'Send for approval' }).click();
    await page.getByRole('status').filter({ hasText: 'It waits for approval.' }).waitFor();
    await change.getByText('so another person has to approve it').waitFor();
    await change.getByText('Other approvers: ').waitFor();
    await page.waitForURL(/\/review\/wf_/);
    const undoing = new URL(page.url()).hash.split('/').at(-1) ?? '';
    const done = await scene.harness.api('POST', `/api/v1/workflows/${undoing}/approve`, { ...scene.own, body: {} });
    expect(done.body.status).toBe('executed');
    expect(dashboard.complaints).toEqual([]);
  });

  test('what waits is as it was told last, though an older answer comes after that', async () => {
    const [read, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const isQueue = ({ pathname, searchParams }: URL) =>
      pathname === '/api/v1/workflows' && searchParams.get('status') === 'pending';
    await using dashboard = await openDashboard(browser, scene.harness);
    const { page } = dashboard;
    const first = page.waitForRequest((request) => isQueue(new URL(request.url())));
    await page.route(
      isQueue,
      async (route) => {
        const response = await route.fetch();
        read.resolve();
        await late.promise;
        // Nobody may wait for it any more.
        await route.fulfill({ response }).catch(() => undefined);
      },
      { times: 1 },
    );
    await dashboard.go('prod/review');
    await dashboard.signIn('olga', PASSWORD);
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    const over = first.then((request) => request.response().then((response) => response?.finished()));
    await read.promise;
    const id = await scene.ask(scene.agent);
    const queued = page.getByRole('navigation', { name: 'Waiting for a decision' }).getByRole('listitem');
    await queued.first().waitFor();
    late.resolve();
    await over;
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(await queued.count()).toBe(1);
    expect(dashboard.complaints).toEqual([]);
    await scene.harness.api('POST', `/api/v1/workflows/${id}/reject`, { ...scene.own, body: {} });
  });

  test('kinds that are too many for one screen are said to be missing, and shown on demand', async () => {
    const { harness, own, post } = await startScene();
    await using _ended = harness;
    const names = Array.from({ length: 9 }, (_, index) => `n${index}`);
    for (const name of names) await joinDevice(harness, own, name, { own: name });
    const labelled = (name: string) => ({ peerSelector: { matchLabels: { own: name } } });
    const rules = (to: number) =>
      names.flatMap((from, index) =>
        index === to ? [] : [{ from: [labelled(from)], ports: [{ port: 9_000 + to * 10 + index }] }],
      );
    const changes = names.map((name, to) => ({
      ...{ action: 'create', resource: 'MeshPolicy', name: `to-${name}` },
      spec: { action: 'ALLOW', ...labelled(name), ingress: rules(to) },
    }));
    const plan = await post(own, '/api/v1/ai/intent/plan', { intent: 'let each reach each', changes });
    const asked = { plan_id: planIdOf(plan), approved_by: 'admin' };
    const { workflow_id: id } = await post(own, '/api/v1/ai/intent/apply', asked);
    await using dashboard = await openDashboard(browser, harness);
    await dashboard.go(`prod/review/${id}`);
    await dashboard.signIn('admin', PASSWORD);
    const opens = dashboard.page.getByRole('region', { name: 'Opens' });
    await opens.getByText('22 more kinds with 22 pairs not shown yet.').waitFor();
    expect(await opens.locator('.kind').count()).toBe(50);
    await opens.getByRole('button', { name: 'Show more' }).click();
    await opens.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
    expect(await opens.locator('.kind').count()).toBe(72);
    expect(dashboard.complaints).toEqual([]);
  });

  test('what would break an assertion by now cannot be approved, and says why and how to go on', async () => {
    const id = await scene.ask(scene.agent);
    const shut = { name: 'shut', src: 'role=web', dst: 'role=db', expect: 'unreachable' };
    await scene.post(scene.own, '/api/v1/assertions', shut);
    await using dashboard = await openAs('olga', `prod/review/${id}`);
    const { page, change } = dashboard;
    await change.getByText('This change cannot be approved as it is now').waitFor();
    await change.getByText('The change would break the assertion shut').waitFor();
    await change
      .getByRole('region', { name: 'Assertions and controls' })
      .getByText('2 of 3 assertions hold after it')
      .waitFor();
    expect(await page.getByRole('button', { name: /^Approve: / }).isDisabled()).toBe(true);
    await change.getByRole('link', { name: 'Plan it again' }).click();
    await page.getByRole('heading', { name: 'New change' }).waitFor();
    expect(await page.getByLabel('What do you want to change?').inputValue()).toBe(INTENT);
    expect(dashboard.complaints).toEqual([]);
    await scene.harness.api('DELETE', '/api/v1/assertions/shut', scene.own);
    await scene.harness.api('POST', `/api/v1/workflows/${id}/reject`, { ...scene.own, body: {} });
  });

  test('by keyboard alone: through the queue, the keys, a question back, and an approval that no Enter elsewhere gives', async () => {
    const [first, second] = [
      await scene.ask(scene.agent),
      await scene.ask(scene.agent, 'let web-1 reach orders-db on port 80'),
    ];
    await using dashboard = await openAs('olga', 'prod/review');
    const { page, change } = dashboard;
    // The first one is chosen by itself; Escape leads back to the list, where nothing is.
    await page.getByRole('button', { name: /^Approve: / }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Choose a request on the left, or press j.').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('go to Request changes').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.getByRole('button', { name: /^Approve: / }).waitFor();
    const shown = async () => new URL(page.url()).hash.split('/').at(-1);
    const before = await shown();
    await page.keyboard.press('j');
    await expect.poll(shown).not.toBe(before);
    await page.keyboard.press('k');
    await expect.poll(shown).toBe(before);

    const approve = page.getByRole('button', { name: /^Approve: .+ on TCP \d+$/ });
    await expect.poll(() => approve.isDisabled()).toBe(false);
    await page.keyboard.press('Enter');
    await page.keyboard.press('n');
    await page.keyboard.type('Which port do you need?');
    await page.keyboard.press('Enter');
    expect((await scene.workflow(before ?? '')).status).toBe('pending');
    await page.keyboard.press('Tab');
    await tabTo(page, page.getByRole('button', { name: 'Request changes' }));
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'The change is sent back with your note.' }).waitFor();
    expect(await scene.workflow(before ?? '')).toMatchObject({
      ...{ status: 'rejected', reviewedBy: 'user:olga' },
      note: expect.stringContaining('Which port do you need?'),
    });

    const other = before === first ? second : first;
    await dashboard.go(`prod/review/${other}`);
    await expect.poll(() => approve.isDisabled()).toBe(false);
    await page.getByRole('heading', { name: 'Review' }).focus();
    await page.keyboard.press('q');
    await page.keyboard.press('Enter');
    await change.getByText('Write in the note what should change').waitFor();
    await page.getByRole('heading', { name: 'Review' }).focus();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'The change is executed.' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('the buttons of one change are gone in the instant in which a key leads to the next', async () => {
    const ids = [];
    for (const port of [82, 83]) ids.push(await scene.ask(scene.agent, `let web-1 reach orders-db on port ${port}`));
    await using dashboard = await openAs('olga', `prod/review/${ids[1]}`);
    const { page } = dashboard;
    await page.getByRole('button', { name: /^Approve: .+ on TCP 83$/ }).waitFor();
    await page.getByRole('navigation', { name: 'Waiting for a decision' }).getByText('TCP 82').first().waitFor();
    // Promises alone are kept before the next key: the event of another address comes later.
    const left = await page.evaluate(`(async () => {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }));
      for (let turn = 0; turn < 20; turn += 1) await undefined;
      return [location.hash.split('/').at(-1), document.getElementById('verdict-a')];
    })()`);
    expect(left).toEqual([ids[0], null]);
    expect(dashboard.complaints).toEqual([]);
    for (const id of ids) await scene.harness.api('POST', `/api/v1/workflows/${id}/reject`, { ...scene.own, body: {} });
  });

  test('a workspace that asks for a code has it asked for above the button, and a wrong one keeps what was typed', async () => {
    await using harness = await startHarness();
    const { workspace } = await harness.workspace();
    const own = { token: await ownPassword(harness), workspace };
    const set = (settings: object) =>
      harness.api('PATCH', `/api/v1/workspaces/${workspace}`, { ...own, body: { settings } });
    await set({ selfApproval: true });
    await member(harness, own, 'olga', 'operator');
    await set({ requireApproval: true, approvalCode: true });
    const olga = { token: await harness.login('olga', PASSWORD), workspace };
    const body = { name: 'base', spec: BASE };
    const { body: held } = await harness.api('POST', '/api/v1/policies', { ...olga, body });

    {
      await using without = await openAs('olga', `prod/review/${held.workflow_id}`, harness);
      await without.change.getByText('and your account has none: enrol one first').waitFor();
      expect(await without.page.getByRole('button', { name: /^Approve: / }).isDisabled()).toBe(true);
    }
    const { recoveryCodes } = await enrolSecondFactor(harness, own.token, PASSWORD);
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go(`prod/review/${held.workflow_id}`);
    await dashboard.signIn('admin', PASSWORD);
    await page.getByLabel('Code of your second factor, or a recovery code').fill(recoveryCodes[0] ?? '');
    await page.getByRole('button', { name: 'Sign in' }).click();
    const approve = page.getByRole('button', { name: /^Approve: / });
    await approve.waitFor();
    expect(await approve.isDisabled()).toBe(true);
    await page.getByLabel('Note').fill('seen');
    await page.getByLabel('Code of your second factor').fill('000000');
    await approve.click();
    await page.getByRole('alert').filter({ hasText: 'wrong or was used before' }).waitFor();
    expect(await page.getByLabel('Note').inputValue()).toBe('seen');
    await page.getByLabel('Code of your second factor').fill(recoveryCodes[1] ?? '');
    await approve.click();
    await page.getByRole('status').filter({ hasText: 'The change is executed.' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('on a phone Review opens with its list, Approve is in sight without scrolling, and where nothing waits a button plans a change', async () => {
    const id = await scene.ask(scene.agent, 'let web-1 reach orders-db on port 82');
    await using dashboard = await openDashboard(browser, scene.harness, { width: 390 });
    const { page } = dashboard;
    await dashboard.go('prod/review');
    await dashboard.signIn('olga', PASSWORD);
    const queued = page.getByRole('navigation', { name: 'Waiting for a decision' }).getByRole('listitem');
    await queued.first().waitFor();
    expect(page.url()).toMatch(/#\/prod\/review$/);
    expect(await page.getByRole('article').count()).toBe(0);
    await dashboard.go(`prod/review/${id}`);
    const approve = page.getByRole('button', { name: /^Approve: / });
    await approve.waitFor();
    const { y = 0, height = 0 } = (await approve.boundingBox()) ?? {};
    const foot = await page.getByRole('navigation', { name: 'Pages' }).boundingBox();
    expect(y + height).toBeLessThanOrEqual(foot?.y ?? 0);
    await scene.harness.api('POST', `/api/v1/workflows/${id}/reject`, { ...scene.own, body: {} });

    await using fresh = await startHarness();
    await fresh.workspace();
    await ownPassword(fresh);
    await using empty = await openDashboard(browser, fresh);
    await empty.go('prod/review');
    await empty.signIn('admin', PASSWORD);
    await empty.page.getByText('Nothing waits for a decision. Choose a decided change').waitFor();
    const plan = empty.page.getByRole('link', { name: 'Plan a change', exact: true });
    await plan.and(empty.page.locator('.button')).click();
    await empty.page.getByRole('heading', { name: 'New change' }).waitFor();
    expect([...dashboard.complaints, ...empty.complaints]).toEqual([]);
  });

  test('while the effect is computed, nothing on the page says that it was checked', async () => {
    const id = await scene.ask(scene.agent, 'let web-1 reach orders-db on port 83');
    await using dashboard = await openDashboard(browser, scene.harness);
    const { page } = dashboard;
    const computed = Promise.withResolvers<void>();
    await page.route('**/redraw', async (route) => {
      await computed.promise;
      await route.continue();
    });
    await dashboard.go(`prod/review/${id}`);
    await dashboard.signIn('olga', PASSWORD);
    const change = page.getByRole('article');
    await change.getByText('Computing the effect on the network as it is now').waitFor();
    await change.getByText('Details').waitFor();
    expect(await change.getByText('✓').count()).toBe(0);
    computed.resolve();
    await change.getByText('✓ matches').waitFor();
    expect(dashboard.complaints).toEqual([]);
    await scene.harness.api('POST', `/api/v1/workflows/${id}/reject`, { ...scene.own, body: {} });
  });

  test('a viewer reads all of it and is told why they decide nothing', async () => {
    const id = await scene.ask(scene.agent, 'let web-1 reach orders-db on port 81');
    await using dashboard = await openAs('vera', `prod/review/${id}`);
    const { page, change } = dashboard;
    await change.getByText('that needs workflows:approve').waitFor();
    await change.getByRole('region', { name: 'Assertions and controls' }).waitFor();
    expect(await page.getByRole('button', { name: /^Approve|Reject|Request changes/ }).count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });

  test.each([
    ['light', 390],
    ['dark', 1280],
    ['light', 2560],
  ] as const)('axe finds no fault in %s at %i pixels, with everything opened', async (theme, width) => {
    const id = await scene.ask(scene.agent, `let web-1 reach orders-db on port ${width}`);
    await scene.join(`late-${width}`);
    await using dashboard = await openDashboard(browser, scene.harness, { theme, width });
    await dashboard.go(`prod/review/${id}`);
    await dashboard.signIn('olga', PASSWORD);
    const { page } = dashboard;
    await page.getByRole('region', { name: 'Assertions and controls' }).waitFor();
    await page.evaluate(`for (const each of document.querySelectorAll('article details')) each.open = true`);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('img', { name: /^Opens:/ }).waitFor();
    const { lowest, overlapping } = (await page.evaluate(TEXTS)) as { lowest: number; overlapping: number };
    // As high as text of 12 px is, in a picture that is not shrunk.
    expect(lowest).toBeGreaterThanOrEqual(12);
    expect(overlapping).toBe(0);
    const isCut = `document.documentElement.scrollWidth > document.documentElement.clientWidth`;
    expect(await page.evaluate(isCut)).toBe(false);
    expect(dashboard.complaints).toEqual([]);
  });
});
