import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { planIdOf } from '../kits/http/plan-id.ts';
import { hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { OWN_PASSWORD, type PastNetwork, startPastNetwork } from '../kits/web/past-network.ts';

/** Of the columns of the row that a heading is in. */
const LEFT_EDGES = `(heading) => [...heading.parentElement.children].map((cell) => cell.getBoundingClientRect().left)`;

describe.skipIf(!hasBrowser)('the time on the dashboard', () => {
  let browser: Browser;
  let harness: PastNetwork;
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startPastNetwork()]);
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  const at = (page: Page) => new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('at');
  const row = (page: Page, title: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) });

  async function open(address: string, username = 'admin', options = {}) {
    const dashboard = await openDashboard(browser, harness, options);
    await dashboard.go(address);
    await dashboard.signIn(username, OWN_PASSWORD);
    return dashboard;
  }

  test('a person reads what changed with its effect, filters it, looks at the network as of then, and comes back', async () => {
    await using dashboard = await open('prod/time');
    const { page } = dashboard;
    const deleted = row(page, 'policy web-to-db deleted');
    await deleted.getByText('admin', { exact: true }).waitFor();
    expect(await deleted.textContent()).toMatch(/Closes.*role=web \(2 peers\).*orders-db.*TCP 5432.*2 pairs/);
    const approved = row(page, 'policy allow-to-db created');
    await approved.getByRole('heading').click();
    await approved.getByText('Approved by admin').waitFor();
    await row(page, 'policy build-to-db ended').getByText('expiry').waitFor();
    const burst = row(page, '5 peers joined');
    await burst.getByText('web-1, web-2, orders-db, build-7, ada-laptop').click();
    await burst.getByRole('heading', { name: 'peer web-1 created' }).waitFor();
    await burst
      .getByText(/^and \d+ more changes?$/)
      .first()
      .waitFor();
    const columnsOf = (title: string) => page.getByRole('heading', { name: title }).evaluate(LEFT_EDGES);
    const columns = await columnsOf('policy web-to-db created');
    expect(await columnsOf('5 peers joined')).toEqual(columns);
    expect(await columnsOf('peer web-1 created')).toEqual(columns);

    await page.getByText(/^\d+ changes of peers, policies, networks and agents$/).waitFor();
    await page.getByLabel('Kind').selectOption('Policies');
    await page.getByRole('heading', { name: '5 peers joined' }).waitFor({ state: 'detached' });
    await page.getByLabel('Resource name').fill('web-to-db');
    await page.getByLabel('Resource name').press('Enter');
    await page.getByRole('status').getByText('2 changes').waitFor();
    expect(page.url()).toContain('kind=MeshPolicy&name=web-to-db');

    await row(page, 'policy web-to-db created').getByRole('button', { name: 'View this moment' }).click();
    await page
      .getByRole('banner')
      .getByText(/^As of /)
      .waitFor();
    // One line, as it is now.
    const heightOf = async () => (await page.getByRole('banner').boundingBox())?.height;
    const then = await heightOf();
    await page.getByRole('link', { name: 'Network', exact: true }).click();
    await page.getByRole('heading', { name: 'Peers' }).waitFor();
    expect(at(page)).toMatch(/Z$/);
    expect(page.url()).not.toContain('from=');
    await page.getByRole('link', { name: 'Review' }).click();
    await page.getByText('This page has no past').waitFor();
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.getByText('This page has no past').waitFor({ state: 'detached' });
    expect(at(page)).toBeNull();
    expect(then).toBe(await heightOf());
    expect(dashboard.complaints).toEqual([]);
  });

  test('the top bar leads to a moment that is often asked about, or typed, and refuses what is no time in the past', async () => {
    await using dashboard = await open('prod/peers?at=%3Cimg%20src%3Dx%3E');
    const { page } = dashboard;
    await page.getByRole('status').filter({ hasText: '<img src=x> is no time in the past' }).waitFor();
    expect(at(page)).toBeNull();
    const control = page.getByRole('button', { name: /^Time that is looked at/ });
    await control.click();
    await page.getByRole('button', { name: 'Before the last change' }).click();
    await page
      .getByRole('banner')
      .getByText(/^As of /)
      .waitFor();
    const before = new Date(at(page) ?? '');
    expect(before < new Date()).toBe(true);

    await control.click();
    const field = page.getByLabel(/^Date and time/);
    await field.fill('2999-01-01T00:00:00');
    await page.getByText('Choose a time in the past.').waitFor();
    expect(await page.getByRole('button', { name: 'View this time' }).isDisabled()).toBe(true);
    const wanted = new Date(Date.now() - 3_600_000);
    wanted.setMilliseconds(0);
    const local = new Date(wanted.getTime() - wanted.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
    await field.fill(local);
    await page.getByText(wanted.toISOString().replace('.000', '')).waitFor();
    await page.getByRole('button', { name: 'View this time' }).click();
    await expect.poll(() => at(page)).toBe(wanted.toISOString());
    expect(dashboard.complaints).toEqual([]);
  });

  test('a range is fixed once it is chosen, and comparing its ends names what opened and closed, and because of what', async () => {
    await using dashboard = await open('prod/time?view=compare');
    const { page } = dashboard;
    const rangeOf = () => /from=[^&]+&to=[^&]+/.exec(page.url())?.[0];
    await page.getByText('The range begins before the history').waitFor();
    await page.getByRole('button', { name: /^Range/ }).click();
    await page.getByRole('button', { name: 'Last hour' }).click();
    await page.getByText('Reachability is the same').waitFor();
    const chosen = rangeOf();
    expect(chosen).toBeDefined();
    await page.getByRole('button', { name: 'Changes', exact: true }).click();
    await page.getByRole('button', { name: 'Last 7 days' }).click();
    await page
      .getByRole('status')
      .getByText(/^1[01] changes/)
      .waitFor();
    expect(rangeOf()).not.toBe(chosen);

    await row(page, 'policy web-to-db deleted').getByRole('button', { name: 'View this moment' }).click();
    await page.getByRole('button', { name: 'Compare from here' }).click();
    const closes = page.locator('section.closes');
    await closes.getByText('TCP 5432').first().waitFor();
    expect(await closes.textContent()).toMatch(/role=web.*orders-db.*because of deleted policy web-to-db/);
    expect(dashboard.complaints).toEqual([]);
  });

  test('keys alone move through the changes, play them, and stop', async () => {
    await using dashboard = await open('prod/time');
    const { page } = dashboard;
    const slider = page.getByLabel('Position in the changes of this range');
    await slider.focus();
    await page.keyboard.press('Home');
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/^1 of 1[01]: peer web-1 created/);
    const first = at(page);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/^2 of 1[01]: peer web-2 created/);
    await page.keyboard.press('End');
    await expect.poll(() => at(page)).toBeNull();
    await page.keyboard.press('Home');
    await page.getByLabel('Speed').selectOption('every second');
    await page.getByRole('button', { name: 'Play' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => at(page)).not.toBe(first);
    await page.getByRole('button', { name: 'Pause' }).press('Enter');
    await page.getByRole('button', { name: 'Play' }).waitFor();
    await page.getByRole('button', { name: /^Time that is looked at/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'View another time' }).waitFor();
    await page.getByRole('button', { name: 'An hour ago' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'View another time' }).waitFor({ state: 'detached' });
    expect(dashboard.complaints).toEqual([]);
  });

  test('in the past nothing is offered that changes the network, and back to now it is', async () => {
    await using dashboard = await open(`prod/peers/web-1?at=${new Date(Date.now() - 60_000).toISOString()}`);
    const { page } = dashboard;
    await page.getByRole('article').getByText('role=web').waitFor();
    expect(await page.getByRole('button', { name: 'Revoke' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.getByRole('button', { name: 'Revoke' }).waitFor();
    const token = await harness.owner();
    const body = { workspace_id: harness.workspace, intent: 'let role=ci reach role=db on port 22', dry_run: false };
    const plan = await harness.api('POST', '/api/v1/ai/intent/plan', { token, body });
    const apply = { plan_id: planIdOf(plan.body), approved_by: 'admin' };
    const asked = await harness.api('POST', '/api/v1/ai/intent/apply', {
      token,
      workspace: harness.workspace,
      body: apply,
    });
    await dashboard.go(`prod/review/${asked.body.workflow_id}?at=${new Date(Date.now() - 60_000).toISOString()}`);
    await page.getByText('Go back to now to decide it.').waitFor();
    expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });

  test('what changes after the range has ended is told, and shown when it is asked for', async () => {
    await using dashboard = await open('prod/time');
    const { page } = dashboard;
    await row(page, 'policy web-to-db deleted').waitFor();
    const token = await harness.owner();
    const place = { token, workspace: harness.workspace };
    const body = { name: 'late', spec: { action: 'DENY', peerSelector: { matchLabels: { role: 'none' } } } };
    await harness.api('POST', '/api/v1/policies', { ...place, body });
    await page.getByText('The network has changed since this range ended.').waitFor();
    expect(await row(page, 'policy late created').count()).toBe(0);
    await page.getByRole('button', { name: 'Show up to now' }).click();
    await row(page, 'policy late created').getByText('no connection changes').waitFor();
    await harness.api('DELETE', '/api/v1/policies/late', { ...place, body: {} });
    expect(dashboard.complaints).toEqual([]);
  });

  test('who may change nothing is offered no way to put a change back', async () => {
    await using dashboard = await open('prod/time', 'vera');
    const { page } = dashboard;
    await row(page, 'policy web-to-db deleted').waitFor();
    expect(await page.getByRole('button', { name: 'Revert' }).count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a dialog that is open closes when the way back leads to another page', async () => {
    await using dashboard = await open('prod/peers');
    const { page } = dashboard;
    await page.getByRole('heading', { name: 'Peers' }).waitFor();
    await dashboard.go('prod/time');
    await page.getByRole('button', { name: /^Revert: policy web-to-db deleted/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('web-1, web-2').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Peers' }).waitFor();
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('ControlOrMeta+k');
    await dialog.waitFor();
    await page.goForward();
    await dialog.waitFor({ state: 'detached' });
    expect(dashboard.complaints).toEqual([]);
  });

  test('a change is put back as a plan that is approved, and the approval is undone in its turn', async () => {
    await using dashboard = await open('prod/time');
    const { page } = dashboard;
    await page.getByRole('button', { name: /^Revert: policy web-to-db deleted/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('web-1, web-2').waitFor();
    await dialog.getByRole('button', { name: 'Send for approval' }).click();
    const change = page.getByRole('article');
    await change.getByRole('button', { name: /^Approve: / }).click();
    const message = page.getByRole('status').filter({ hasText: 'The change is executed.' });
    await message.getByRole('button', { name: 'Revert', exact: true }).click();
    await dialog.getByText('delete MeshPolicy').waitFor();
    await dialog.getByRole('button', { name: 'Send for approval' }).click();
    await change.getByRole('button', { name: /^Approve: / }).click();
    await message.waitFor();
    const token = await harness.owner();
    const { body } = await harness.api('GET', '/api/v1/policies', { token, workspace: harness.workspace });
    expect(body.items.map(({ name }: { name: string }) => name)).not.toContain('web-to-db');
    expect(dashboard.complaints).toEqual([]);
  });
});
