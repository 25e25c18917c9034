import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scriptedModel } from '../../llm/model/scripted-model.testkit.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { webAndDatabase } from '../kits/http/network-setup.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { member, ownPassword, PASSWORD } from '../kits/web/page-people.ts';
import { tabTo } from '../kits/web/tab-to.ts';

/** Whether the message lies on the bar with the buttons that decide. */
const IS_BAR_COVERED = `(() => {
  const [bar, message] = ['.verdict', '.message p'].map((one) => document.querySelector(one).getBoundingClientRect());
  return bar.top < message.bottom && message.top < bar.bottom && bar.left < message.right && message.left < bar.right;
})()`;
const INTENT = 'let the web servers reach the database on port 5432 and nobody else';
const HOSTILE = '<b onclick="alert(1)">let everyone in</b>';
const LOOSE = 'our storefronts ought to speak postgres with whatever keeps the orders';
const PATH = '/api/v1/ai/intent/plan';
/** A refusal with a draft. */
const NOT_READ = {
  status: 422,
  title: 'Intent not understood',
  code: 'intent_not_understood',
  detail: 'No peer or label is called storefront.',
  reason: 'No peer or label is called storefront.',
  questions: ['Who is the storefront?'],
  choices: [],
  draft: { orders: [{ do: 'only', from: [], to: ['db-1'], ports: ['tcp/5432'] }] },
  vocabulary: {
    labels: [{ key: 'role', values: [{ value: 'web', peers: 2 }] }],
    near: [{ word: 'storefront', names: ['web-1'] }],
  },
  next: 'Fill in orders and send them.',
};

/** Keeps the plans that a page asks for. */
function requestsOf(page: Page): unknown[] {
  const asked: unknown[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith(PATH)) asked.push(request.postDataJSON());
  });
  return asked;
}

/** The words of a text, without marks. */
function plain(text: string | null): string | undefined {
  return text?.replace(/[^\w=/.,-]+/g, ' ').trim();
}

describe.skipIf(!hasBrowser)('changes by intent on the dashboard', () => {
  let browser: Browser;
  let harness: Harness;
  let own: { token: string; workspace: string };
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
    const { workspace } = await webAndDatabase(harness);
    own = { workspace, token: await ownPassword(harness) };
    await member(harness, own, 'oskar', 'operator');
    await member(harness, own, 'vera', 'viewer');
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  test('a link fills the sentence in and sends nothing; a person previews it and sends it for approval, by keyboard alone', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    const asked = requestsOf(page);
    await dashboard.go(`prod/change?intent=${encodeURIComponent(INTENT)}`);
    await dashboard.signIn('admin', PASSWORD);
    const sentence = page.getByLabel('What do you want to change?');
    await expect.poll(() => sentence.inputValue()).toBe(INTENT);
    expect(asked).toEqual([]);

    await tabTo(page, sentence);
    await page.keyboard.press('Control+Enter');
    const plan = page.getByRole('article');
    await page.getByRole('list', { name: 'Planning' }).getByText('Computing').waitFor();
    await plan.getByText('✓ matches', { exact: true }).waitFor();
    await plan.getByRole('region', { name: 'Closes' }).getByText('laptop').first().waitFor();
    expect(asked).toEqual([{ intent: INTENT }]);

    await tabTo(page, plan.getByLabel('Approver'));
    await page.keyboard.press('ArrowDown');
    const approvers = plan.getByRole('listbox', { name: 'Approver' }).getByRole('option');
    await expect.poll(() => approvers.allTextContents()).toContain('oskar');
    await page.keyboard.press('Escape');
    await tabTo(page, page.getByRole('button', { name: 'Send for approval', exact: true }));
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'The change awaits approval.' }).waitFor();
    await page.getByRole('button', { name: /^Approve: / }).waitFor();
    expect(await page.evaluate(IS_BAR_COVERED)).toBe(false);
    await page.getByRole('article').getByText('Details', { exact: true }).click();
    await page.getByRole('article').getByText('oskar', { exact: true }).waitFor();
    expect(page.url()).toMatch(/\/prod\/review\/wf_/);
    await dashboard.go('prod/change');
    expect(await sentence.inputValue()).toBe('');
    expect(dashboard.complaints).toEqual([]);
  });

  test('orders are written by keyboard with completion, previewed, and shown the same way to whoever approves', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    const asked = requestsOf(page);
    await dashboard.go('prod/change');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByLabel('What do you want to change?').fill(LOOSE);
    await tabTo(page, page.getByRole('button', { name: 'Write orders' }));
    await page.keyboard.press('Enter');
    const row = page.getByRole('group', { name: 'Order 1' });
    await expect.poll(() => row.getByLabel('Action').evaluate((element) => element.matches(':focus'))).toBe(true);
    await page.keyboard.press('o');
    await page.keyboard.press('Tab');
    await page.keyboard.type('role=w');
    await row.getByRole('option', { name: 'role=web 2 peers' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await row.getByRole('button', { name: 'Remove role=web from From' }).waitFor();
    await page.keyboard.press('Control+Enter');
    await row.getByText('Name at least one.').waitFor();
    expect(asked).toEqual([]);
    await tabTo(page, row.getByRole('combobox', { name: 'To', exact: true }));
    await page.keyboard.type('db-1');
    await tabTo(page, row.getByRole('combobox', { name: 'Ports' }));
    await page.keyboard.type('tcp/5432, icmp');
    await page.keyboard.press('Control+Enter');

    const plan = page.getByRole('article');
    await plan.getByText('Effect matches the orders').waitFor();
    const order = { do: 'only', from: ['role=web'], to: ['db-1'], ports: ['tcp/5432', 'icmp'] };
    expect(asked).toEqual([{ intent: LOOSE, orders: [order] }]);
    const text = 'Onlyrole=web todb-1tcp/5432, icmpand nobody else';
    expect(plain(await plan.getByRole('list', { name: 'Orders' }).textContent())).toContain(text);
    await plan.getByRole('blockquote').getByText(LOOSE).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    await tabTo(page, page.getByRole('button', { name: 'Send for approval', exact: true }));
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'The change awaits approval.' }).waitFor();
    const decision = page.getByRole('article');
    await decision.getByText('Effect matches the orders').waitFor();
    expect(plain(await decision.getByRole('list', { name: 'Orders' }).textContent())).toContain(text);
    await decision.getByRole('blockquote').getByText(LOOSE).waitFor();
    expect(await decision.getByText('proven').count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a word that means nobody is marked in its field, and orders that hold already have nothing to send', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/change');
    await dashboard.signIn('oskar', PASSWORD);
    await page.getByRole('button', { name: 'Write orders' }).click();
    const row = page.getByRole('group', { name: 'Order 1' });
    const to = row.getByRole('combobox', { name: 'To', exact: true });
    await row.getByRole('combobox', { name: 'From', exact: true }).fill('laptop');
    await to.fill('web-3');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('alert').getByText('Correct the marked fields.').waitFor();
    await row.getByText('There is no peer "web-3".').waitFor();
    expect(await to.getAttribute('aria-invalid')).toBe('true');
    await row.getByRole('button', { name: 'Remove web-3 from To' }).click();
    expect(await to.getAttribute('aria-invalid')).toBe('false');
    await to.fill('web-1');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('article').getByText('Already so').waitFor();
    expect(await page.getByRole('button', { name: 'Send for approval' }).count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.getByRole('button', { name: 'Add order' }).click();
    await page.getByRole('button', { name: 'Remove order 1' }).click();
    expect(await page.getByRole('group', { name: 'Order 1' }).getByRole('button').allInnerTexts()).toHaveLength(1);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a sentence that is not read becomes rows of orders, which near names complete', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    const asked = requestsOf(page);
    await page.route(`**${PATH}`, (route, request) => {
      if (request.postDataJSON().orders) return route.continue();
      const { status, ...body } = NOT_READ;
      return route.fulfill({
        status,
        contentType: 'application/problem+json',
        body: JSON.stringify({ status, ...body }),
      });
    });
    await dashboard.go('prod/change');
    await dashboard.signIn('oskar', PASSWORD);
    await page.getByLabel('What do you want to change?').fill('only let the storefront speak postgres with db-1');
    await page.getByRole('button', { name: 'Preview' }).click();
    const notRead = page.getByRole('alert', { name: 'Sentence not read' });
    await notRead.getByText('Who is the storefront?').waitFor();
    expect(await notRead.getByRole('button', { name: /^Preview/ }).count()).toBe(0);
    const row = page.getByRole('group', { name: 'Order 1' });
    expect(await row.getByLabel('Action').inputValue()).toBe('only');
    await row.getByRole('button', { name: 'Remove db-1 from To' }).waitFor();
    await row.getByRole('button', { name: 'Remove tcp/5432 from Ports' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByRole('combobox', { name: 'From', exact: true }).click();
    await row.getByRole('option', { name: 'web-1 near “storefront”' }).click();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('article').getByText('Effect matches the orders').waitFor();
    expect(asked.at(-1)).toEqual({
      intent: 'only let the storefront speak postgres with db-1',
      orders: [{ do: 'only', from: ['web-1'], to: ['db-1'], ports: ['tcp/5432'] }],
    });
    expect(dashboard.complaints).toEqual([]);
  });

  test('another sentence takes the place of a draft that nobody changed, and of no order that a person wrote', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    const asked = requestsOf(page);
    await dashboard.go('prod/change');
    await dashboard.signIn('oskar', PASSWORD);
    const sentence = page.getByLabel('What do you want to change?');
    const row = page.getByRole('group', { name: 'Order 1' });
    const preview = page.getByRole('button', { name: /^Preview( orders)?$/ });
    await sentence.fill('only let the storefront speak postgres with db-1');
    await preview.click();
    await row.waitFor();
    await page.getByText('They go when you change this sentence.').waitFor();
    await sentence.fill(INTENT);
    await row.waitFor({ state: 'detached' });
    await preview.click();
    await page.getByRole('article').getByText('✓ matches', { exact: true }).waitFor();
    expect(asked.at(-1)).toMatchObject({ intent: INTENT });
    expect(asked.at(-1)).not.toHaveProperty('orders');

    await page.getByRole('button', { name: 'Edit orders' }).click();
    await row.getByRole('button', { name: 'Remove tcp/5432 from Ports' }).click();
    await row.getByRole('combobox', { name: 'Ports' }).fill('tcp/22');
    await page.keyboard.press('Enter');
    await sentence.fill(`${INTENT}!`);
    await page.getByText('The orders below decide. Approvers').waitFor();
    await preview.click();
    await page.getByText('The sentence says something else than the orders.').waitFor();
    const plan = page.getByRole('article');
    await plan.getByText('✗ differs', { exact: true }).waitFor();
    expect(await plan.getByText('✓ matches', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Discard orders' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await sentence.inputValue()).toBe(`${INTENT}!`);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a draft that nobody changed is gone when a person comes back, and a link with another sentence drops orders', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/change');
    await dashboard.signIn('oskar', PASSWORD);
    const sentence = page.getByLabel('What do you want to change?');
    const row = page.getByRole('group', { name: 'Order 1' });
    await sentence.fill(LOOSE);
    await page.getByRole('button', { name: 'Preview' }).click();
    await row.waitFor();
    await dashboard.go('prod/peers');
    await page.getByRole('heading', { name: 'Peers' }).waitFor();
    await dashboard.go('prod/change');
    await expect.poll(() => sentence.inputValue()).toBe(LOOSE);
    expect(await row.count()).toBe(0);
    await page.getByRole('button', { name: 'Write orders' }).click();
    await row.waitFor();
    await dashboard.go('prod/change?intent=close');
    await expect.poll(() => sentence.inputValue()).toBe('close');
    expect(await row.count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });

  test('examples name peers and labels of the network, and each is read', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/change');
    await dashboard.signIn('oskar', PASSWORD);
    const examples = page.getByRole('button', { name: /^(let|deny) / });
    await examples.first().waitFor();
    const sentences = await examples.allTextContents();
    expect(sentences).toHaveLength(3);
    for (const sentence of sentences) {
      await page.getByRole('button', { name: sentence, exact: true }).click();
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByRole('article').or(page.getByRole('alert')).first().waitFor();
      expect(await page.getByRole('alert').allTextContents(), sentence).toEqual([]);
      await page.getByRole('button', { name: 'Start over' }).click();
    }
    const side = page.getByRole('navigation', { name: 'Pages' });
    expect(await side.locator('[aria-current]').count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });

  test('an order goes through a DENY policy that it names, and says so where it is shown', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    const spec = { action: 'DENY', peerSelector: { peers: ['web-1'] }, ingress: [{ ports: [{ port: 22 }] }] };
    await harness.api('POST', '/api/v1/policies', { ...own, body: { name: 'no-ssh', spec } });
    const asked = requestsOf(page);
    await dashboard.go('prod/change');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('button', { name: 'Write orders' }).click();
    const row = page.getByRole('group', { name: 'Order 1' });
    await row.getByRole('combobox', { name: 'From', exact: true }).fill('laptop');
    await row.getByRole('combobox', { name: 'To', exact: true }).fill('web-1');
    await row.getByRole('combobox', { name: 'Ports' }).fill('tcp/22');
    await row.getByText('Exceptions and direction').click();
    await row.getByRole('combobox', { name: 'Through DENY policies' }).fill('no-ssh');
    await page.getByRole('button', { name: 'Preview' }).click();
    const plan = page.getByRole('article');
    await plan.getByRole('list', { name: 'Orders' }).getByText('through no-ssh').waitFor();
    await plan.getByRole('region', { name: 'Opens' }).getByText('laptop').first().waitFor();
    const order = { do: 'allow', from: ['laptop'], to: ['web-1'], ports: ['tcp/22'], through: ['no-ssh'] };
    expect(asked).toEqual([{ orders: [order] }]);
    expect(await accessibilityFaults(page)).toEqual([]);
    await harness.api('DELETE', '/api/v1/policies/no-ssh', own);
    expect(dashboard.complaints).toEqual([]);
  });

  test('times of orders are read and shown by the clocks of the workspace, beside those of the viewer; a fault says what can be written', async () => {
    const route = `/api/v1/workspaces/${own.workspace}`;
    await harness.api('PATCH', route, { ...own, body: { settings: { timeZone: 'Asia/Tokyo' } } });
    await using dashboard = await openDashboard(browser, harness, { timeZone: 'America/New_York' });
    const { page } = dashboard;
    const asked = requestsOf(page);
    await dashboard.go('prod/change');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('button', { name: 'Write orders' }).click();
    const row = page.getByRole('group', { name: 'Order 1' });
    await row.getByRole('combobox', { name: 'Action' }).selectOption('Deny');
    await row.getByRole('combobox', { name: 'From', exact: true }).fill('laptop');
    await row.getByRole('combobox', { name: 'To', exact: true }).fill('web-1');
    await row.getByLabel('Begins').fill('2090-01-31T08:00');
    const hint = 'As 2030-01-31T08:00, in Asia/Tokyo. That is 30 Jan 2090, 18:00 America/New_York.';
    await row.getByText(hint).waitFor();
    await row.getByLabel('Until').fill('friday');
    await page.getByRole('button', { name: 'Preview' }).click();
    await row.getByText('A duration is written 30m, 2h').getByText('A time is written 2030-01-31T18:00').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByLabel('Until').fill('');
    await page.getByRole('button', { name: 'Preview' }).click();
    const plan = page.getByRole('article');
    const times = 'begins 31 Jan 2090, 08:00 Asia/Tokyo (30 Jan 2090, 18:00 America/New_York)';
    await plan.getByRole('list', { name: 'Orders' }).getByText(times).waitFor();
    await plan.getByText('nothing changes before').first().waitFor();
    expect(asked.at(-1)).toEqual({
      orders: [{ do: 'deny', from: ['laptop'], to: ['web-1'], starts: '2090-01-31T08:00' }],
    });
    expect(await accessibilityFaults(page)).toEqual([]);
    await harness.api('PATCH', route, { ...own, body: { settings: { timeZone: 'UTC' } } });
    expect(dashboard.complaints).toEqual([]);
  });

  test('changes that another page made are edited as YAML and previewed again', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    const spec = { action: 'DENY', peerSelector: { peers: ['db-1'] }, ingress: [{ from: [{ peerSelector: {} }] }] };
    await harness.api('POST', '/api/v1/policies', { ...own, body: { name: 'shut', spec } });
    const asked = requestsOf(page);
    await dashboard.go('prod/reachability?src=laptop&dst=db-1&protocol=TCP&port=22');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('button', { name: 'Plan this change' }).first().click();
    await page.getByRole('button', { name: 'Edit changes' }).click();
    const editor = page.getByRole('textbox', { name: 'Changes as YAML' });
    await editor.getByText('resource: MeshPolicy').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await editor.focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('- action: [');
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('alert').filter({ hasText: 'This is not YAML' }).waitFor();
    await editor.focus();
    await page.keyboard.press('Control+a');
    const change = { action: 'delete', resource: 'MeshPolicy', name: 'shut' };
    await page.keyboard.insertText(JSON.stringify([change]));
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByRole('article').getByRole('region', { name: 'Opens' }).getByText('laptop').first().waitFor();
    expect(asked.at(-1)).toMatchObject({ changes: [change] });
    await harness.api('DELETE', '/api/v1/policies/shut', own);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a sentence that is being written stays while another time is looked at', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/change?intent=open');
    await dashboard.signIn('admin', PASSWORD);
    const sentence = page.getByLabel('What do you want to change?');
    await expect.poll(() => sentence.inputValue()).toBe('open');
    await sentence.fill('open the database');
    await dashboard.go(`prod/change?intent=open&at=${new Date().toISOString()}`);
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.getByRole('button', { name: 'Back to now' }).waitFor({ state: 'detached' });
    expect(await sentence.inputValue()).toBe('open the database');
    expect(dashboard.complaints).toEqual([]);
  });

  test('a sentence that is being written is there again when a person comes back to the page', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/change?intent=open');
    await dashboard.signIn('admin', PASSWORD);
    const sentence = page.getByLabel('What do you want to change?');
    await expect.poll(() => sentence.inputValue()).toBe('open');
    await sentence.fill('open the database');
    await dashboard.go('prod/ask');
    await page.getByLabel('Question').fill('who opened it?');
    await page.goBack();
    await expect.poll(() => sentence.inputValue()).toBe('open the database');
    await dashboard.go('prod/ask');
    await expect.poll(() => page.getByLabel('Question').inputValue()).toBe('who opened it?');
    await dashboard.go('prod/change');
    await expect.poll(() => sentence.inputValue()).toBe('open the database');
    await dashboard.go('prod/change?intent=close');
    await expect.poll(() => sentence.inputValue()).toBe('close');
    expect(dashboard.complaints).toEqual([]);
  });

  test('a hostile sentence stays text, and starting over empties the page', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/change');
    await dashboard.signIn('admin', PASSWORD);
    const sentence = page.getByLabel('What do you want to change?');
    await sentence.fill(HOSTILE);
    await page.getByRole('button', { name: 'Preview' }).click();
    const notRead = page.getByRole('alert', { name: 'Sentence not read' });
    await notRead.waitFor();
    const stages = page.getByRole('list', { name: 'Planning' }).getByRole('listitem');
    await expect.poll(() => stages.last().textContent()).toMatch(/^✕ Computing: failed$/);
    expect(await notRead.textContent()).toContain('<b onclick');
    await page.getByRole('group', { name: 'Order 1' }).waitFor();
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByText('Examples').waitFor();
    expect(await page.getByRole('group', { name: 'Order 1' }).count()).toBe(0);
    expect(await sentence.inputValue()).toBe('');
    expect(page.url()).not.toContain('intent=');
    expect(dashboard.complaints).toEqual([]);
  });

  test('a plan that cannot be applied any more is planned again by one button', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go(`prod/change?intent=${encodeURIComponent('let laptop reach web-1 on port 22 and nobody else')}`);
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('button', { name: 'Preview' }).click();
    const send = page.getByRole('button', { name: 'Send for approval', exact: true });
    await send.waitFor();
    const spec = { action: 'DENY', peerSelector: { peers: ['web-1'] }, ingress: [{ ports: [{ port: 22 }] }] };
    await harness.api('POST', '/api/v1/policies', { ...own, body: { name: 'no-ssh', spec } });
    await send.click();
    await page.getByText('The network or the plan has changed since.').waitFor();
    await page.getByRole('button', { name: 'Preview again' }).click();
    await page.getByText('The network or the plan has changed since.').waitFor({ state: 'detached' });
    await page.getByRole('article').or(page.getByRole('alert')).first().waitFor();
    await harness.api('DELETE', '/api/v1/policies/no-ssh', own);
    expect(dashboard.complaints).toEqual([]);
  });

  test('stages are told while a model works, which can be stopped', async () => {
    await using model = await scriptedModel(() => 'hang', { modes: ['tool'] });
    await using slow = await startHarness({ env: { MESH_LLM_BASE_URL: model.baseURL, MESH_LLM_MODEL: 'm' } });
    await webAndDatabase(slow);
    await ownPassword(slow);
    await using dashboard = await openDashboard(browser, slow);
    const { page } = dashboard;
    await dashboard.go(`prod/change?intent=${encodeURIComponent(LOOSE)}`);
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('button', { name: 'Preview' }).click();
    const stages = page.getByRole('list', { name: 'Planning' });
    await stages.getByText('Reading the sentence').waitFor();
    await stages.getByText('Asking a model').waitFor();
    await expect.poll(() => model.open()).toBe(1);
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => model.open()).toBe(0);
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).toBe(0);
    // Nothing that did not end has the mark of what is done.
    expect(await stages.getByRole('listitem').last().textContent()).toMatch(/^– Asking a model.*: stopped$/);
    expect(dashboard.complaints).toEqual([]);
  });

  test('who may not plan is not offered it, and the past is not changed', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/change');
    await dashboard.signIn('vera', PASSWORD);
    await page.getByRole('heading', { name: 'Not shown to your role' }).waitFor();
    expect(await page.getByRole('link', { name: 'New change', exact: true }).count()).toBe(0);

    await using other = await openDashboard(browser, harness);
    await other.go(`prod/change?intent=x&at=${new Date().toISOString()}`);
    await other.signIn('oskar', PASSWORD);
    await other.page.getByText('You are viewing the past').waitFor();
    expect(await other.page.getByRole('button', { name: 'Preview' }).isDisabled()).toBe(true);
  });
});
