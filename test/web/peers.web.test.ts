import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { peerColumns } from '../../core/views/peer-view.ts';
import { startHarness } from '../kits/http/harness.ts';
import { joinDevice } from '../kits/http/network-setup.ts';
import { enrol, freshKey } from '../kits/plane/devices.ts';
import { type AgentsNetwork, startAgentsNetwork } from '../kits/web/agents-network.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { ownPassword, PASSWORD } from '../kits/web/page-people.ts';
import { tabTo } from '../kits/web/tab-to.ts';

/** Texts of the page that end at the edge of something without "…". */
const CUT_WITHOUT_DOTS = `(() => {
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const cut = [];
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (text.parentElement.closest('.visually-hidden')) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    let { right } = range.getBoundingClientRect();
    let isOfItsLine = true;
    for (let box = text.parentElement; box; box = box.parentElement) {
      const { overflowX, textOverflow, display } = getComputedStyle(box);
      if (/auto|scroll/.test(overflowX)) break;
      if (overflowX !== 'visible') {
        const edge = box.getBoundingClientRect().right;
        const hasDots = isOfItsLine && textOverflow === 'ellipsis' && !/flex|grid/.test(display);
        if (right > edge + 1 && !hasDots) cut.push(text.data);
        right = Math.min(right, edge);
      }
      isOfItsLine &&= display === 'inline';
    }
  }
  return cut;
})()`;

describe.skipIf(!hasBrowser)('Peers on the dashboard', () => {
  let browser: Browser;
  let network: AgentsNetwork;
  beforeAll(async () => {
    [browser, network] = await Promise.all([launchBrowser(), startAgentsNetwork()]);
  });
  afterAll(async () => {
    await browser.close();
    await network[Symbol.asyncDispose]();
  });
  const openAs = async (name: string, address: string, options = {}) => {
    const dashboard = await openDashboard(browser, network, options);
    await dashboard.go(address);
    await dashboard.signIn(name, PASSWORD);
    return dashboard;
  };

  test('the list says who is there, by which paths and how old the keys are; search and order stay in the address', async () => {
    await using dashboard = await openAs('admin', 'prod/peers');
    const { page } = dashboard;
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await row('build-7').getByText('1 relayed').waitFor();
    await row('web-1').getByText('1 direct').waitFor();
    await row('web-1').getByText('10.96.0.1').waitFor();
    await page.getByRole('button', { name: 'Key since' }).waitFor();
    await page.getByRole('button', { name: 'Name' }).click();
    await page.getByRole('button', { name: 'Name' }).click();
    const names = async () => page.getByRole('row').getByRole('link').allTextContents();
    await expect.poll(async () => (await names())[0]).toBe('web-2');
    await page.getByLabel('Search peers').fill('role=web');
    await expect.poll(names).toEqual(['web-2', 'web-1']);
    await page.getByRole('link', { name: 'web-1' }).click();
    await page.getByRole('article', { name: 'web-1' }).getByText('direct').waitFor();
    await page.goBack();
    await expect.poll(names).toEqual(['web-2', 'web-1']);
    expect(page.url()).toContain('q=role%3Dweb');
    expect(dashboard.complaints).toEqual([]);
  });

  test('the list and the bar of the past fit a window of 1,280 pixels', async () => {
    await using dashboard = await openAs('admin', 'prod/peers', { width: 1280 });
    const { page } = dashboard;
    await page.getByText('1 relayed').first().waitFor();
    const hidden =
      "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('section.table'))";
    expect(await page.evaluate(hidden)).toBe(0);
    const heightOfBar = async () => (await page.getByRole('banner').boundingBox())?.height;
    const now = await heightOfBar();
    await dashboard.go(`prod/peers?at=${new Date().toISOString()}`);
    await page.getByRole('button', { name: 'Back to now' }).waitFor();
    expect(await heightOfBar()).toBe(now);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a name as long as it may be ends in "…" where a list has no room, and is told whole where it is pointed at', async () => {
    const longest = (text: string) => `${text}-${'x'.repeat(62 - text.length)}`;
    const [peer, role, policy] = [longest('peer'), longest('role'), longest('policy')];
    await joinDevice(network, network.own, peer, { role, env: longest('env'), site: 'berlin' });
    const spec = {
      action: 'ALLOW',
      peerSelector: { matchLabels: { role } },
      ingress: [{ from: ['*'], ports: [{ protocol: 'TCP', port: 22 }] }],
    };
    const made = await network.api('POST', '/api/v1/policies', { ...network.own, body: { name: policy, spec } });
    expect(made.status).toBe(201);
    const agent = { name: longest('agent'), ttl: '8h', scopes: ['network:read'] };
    expect((await network.api('POST', '/api/v1/agents', { ...network.own, body: agent })).status).toBe(201);
    for (const width of [390, 1280]) {
      await using dashboard = await openAs('admin', 'prod/peers', { width });
      const { page } = dashboard;
      for (const [list, name] of [
        ['peers', peer],
        ['policies', policy],
        ['agents', agent.name],
        ['join', peer],
        ['topology?by=role', role],
        ['reachability?by=role', role],
        ['time', peer],
      ] as const) {
        await dashboard.go(`prod/${list}`);
        await page.getByRole('main').getByText(name).filter({ visible: true }).first().waitFor();
        expect(await page.evaluate(CUT_WITHOUT_DOTS), `${list} at ${width}`).toEqual([]);
      }
      await dashboard.go('prod/peers');
      await page.getByRole('link', { name: peer }).hover();
      await expect.poll(() => page.getByTitle(peer).count()).toBe(1);
      expect(dashboard.complaints).toEqual([]);
    }
    for (const path of [`policies/${policy}`, `peers/${peer}`])
      await network.api('DELETE', `/api/v1/${path}`, { ...network.own, body: {} });
  });

  test('by keyboard alone a peer is named and labelled, revoked, let in again, and deleted once its name is typed', async () => {
    await joinDevice(network, network.own, 'old-box', { role: 'old' });
    await using dashboard = await openAs('admin', 'prod/peers/old-box');
    const { page } = dashboard;
    const card = page.getByRole('article', { name: 'old-box' });
    await card.waitFor();
    await tabTo(page, card.getByText('Name and labels'));
    await page.keyboard.press('Enter');
    await tabTo(page, card.getByLabel('Name', { exact: true }));
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('new-box');
    await tabTo(page, card.getByLabel('Labels'));
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('role=new tier=gold');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'new-box is saved.' }).waitFor();
    const renamed = page.getByRole('article', { name: 'new-box' });
    for (const label of ['role=new', 'tier=gold']) await renamed.getByText(label, { exact: true }).waitFor();

    await tabTo(page, renamed.getByRole('button', { name: 'Revoke' }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('dialog').getByRole('button', { name: 'Revoke' }));
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'new-box is revoked.' }).waitFor();
    const pageWithFocus = page.locator('#content:focus');
    await pageWithFocus.waitFor();

    await renamed
      .locator('.chip.danger')
      .filter({ hasText: /^✕ revoked$/ })
      .waitFor();
    await tabTo(page, renamed.getByRole('button', { name: 'Restore new-box' }));
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'new-box is approved.' }).waitFor();
    await renamed.getByRole('button', { name: 'Revoke' }).waitFor();

    await tabTo(page, renamed.getByRole('button', { name: 'Delete' }));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
    await tabTo(page, dialog.getByRole('textbox'));
    await page.keyboard.type('new-box');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'new-box is deleted.' }).waitFor();
    await pageWithFocus.waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a peer that came with an agent is adopted after what that opens was shown', async () => {
    const { api, own } = network;
    const made = { name: 'fleet', ttl: '8h', scopes: ['network:read', 'tokens:write'] };
    const { body: agent } = await api('POST', '/api/v1/agents', { ...own, body: made });
    const asked = { token: agent.token, workspace: own.workspace, body: { name: 'of fleet', expiry: '1h' } };
    const { body: join } = await api('POST', '/api/v1/token/generate', asked);
    const device = { token: join.token, name: 'fleet-1', publicKey: freshKey().publicKey };
    expect((await api('POST', '/api/v1/devices/register', { body: device })).status).toBeLessThan(300);
    await using dashboard = await openAs('admin', 'prod/peers/fleet-1');
    const { page } = dashboard;
    const card = page.getByRole('article', { name: 'fleet-1' });
    await card.getByRole('button', { name: 'Adopt' }).click();
    const dialog = page.getByRole('dialog', { name: 'Adopt fleet-1?' });
    await dialog.getByText('It joined with a token of the agent fleet').waitFor();
    await dialog.getByRole('region', { name: 'Opens' }).waitFor();
    await dialog.getByRole('button', { name: 'Adopt' }).click();
    await page.getByRole('status').filter({ hasText: 'fleet-1 is adopted.' }).waitFor();
    await card.getByRole('button', { name: 'Adopt' }).waitFor({ state: 'detached' });
    const { body } = await api('GET', '/api/v1/peers/fleet-1', own);
    expect(body.delegatedBy).toBeNull();
    expect(dashboard.complaints).toEqual([]);
  });

  test('every field of a peer that has a value is in its details, and an ephemeral one is marked in the list too', async () => {
    const { api, own } = network;
    const body = { name: 'of a job', expiry: '1h', ephemeral: true };
    const { body: join } = await api('POST', '/api/v1/token/generate', { ...own, body });
    await enrol(network, join.token, 'job-1');
    await using dashboard = await openAs('admin', 'prod/peers/job-1');
    const { page } = dashboard;
    const card = page.getByRole('article', { name: 'job-1' });
    await card.getByText('deleted after 10 minutes offline').waitFor();
    const { body: peer } = await api('GET', '/api/v1/peers/job-1', own);
    const columns = peerColumns.filter(({ path }) => hasValue(peer, path)).map(({ title }) => title);
    const titles = await card.locator('dt').allTextContents();
    expect(titles).toEqual(expect.arrayContaining(columns.filter((title) => !/^(Name|Online|Phase)$/.test(title))));
    expect(titles).not.toContain('Agent');
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await row('job-1').getByText('ephemeral', { exact: true }).waitFor();
    expect(await row('web-1').getByText('ephemeral').count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a device that joins before the page is told of changes is shown once it is', async () => {
    await using dashboard = await openDashboard(browser, network);
    const { page } = dashboard;
    const told = Promise.withResolvers<void>();
    await page.route('**/api/v1/events', async (route) => {
      await told.promise;
      await route.continue();
    });
    await dashboard.go('prod/peers');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('link', { name: 'web-1' }).waitFor();
    await joinDevice(network, network.own, 'early-box');
    told.resolve();
    await page.getByRole('link', { name: 'early-box' }).waitFor();
    await network.api('DELETE', '/api/v1/peers/early-box', network.own);
    await page.getByRole('link', { name: 'early-box' }).waitFor({ state: 'detached' });
    expect(dashboard.complaints).toEqual([]);
  });

  test('a peer that is deleted or renamed while its page is open, or before, says when and by whom, with its history', async () => {
    const before = new Date().toISOString();
    const { api, own } = network;
    const rename = (from: string, name: string) => api('PATCH', `/api/v1/peers/${from}`, { ...own, body: { name } });
    // A peer is found by its host name too, whatever it was renamed to.
    await joinDevice(network, own, 'its-host', { role: 'old' });
    await rename('its-host', 'lost-box');
    await using dashboard = await openAs('admin', 'prod/peers/lost-box');
    const { page } = dashboard;
    const card = (name: string) => page.getByRole('article', { name });
    await card('lost-box').getByText('Public key').waitFor();
    await rename('lost-box', 'found-box');
    const went = (name: string, how: RegExp) => card(name).getByRole('status').filter({ hasText: how }).waitFor();
    await went('lost-box', /^Renamed .+ to found-box *by +admin/);
    await card('lost-box').getByRole('link', { name: 'found-box' }).click();
    await card('found-box').getByText('Public key').waitFor();
    await api('DELETE', '/api/v1/peers/found-box', own);
    await went('found-box', /^Deleted .+ by +admin/);
    expect(await card('found-box').getByRole('button').count()).toBe(0);
    await card('found-box').getByRole('region', { name: 'History' }).getByText('peer found-box deleted').waitFor();
    await card('found-box').getByRole('link', { name: 'View in Audit' }).waitFor();
    await dashboard.go('prod/peers?q=found-box');
    await page.getByText('Nothing matches.').waitFor();
    await page.getByRole('link', { name: 'found-box: look among deleted peers' }).click();
    await went('found-box', /^Deleted .+ by +admin/);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('lost-box');
    await page.getByRole('option', { name: /^lost-box: look among deleted peers/ }).waitFor();
    await page.keyboard.press('Enter');
    await went('lost-box', /^Renamed .+ to found-box/);
    await dashboard.go(`prod/peers/found-box?at=${new Date().toISOString()}`);
    await went('found-box', /^Deleted .+ by +admin/);
    await dashboard.go(`prod/peers/found-box?at=${before}`);
    await page.getByRole('alert').filter({ hasText: 'found-box did not exist then.' }).waitFor();
    expect(dashboard.complaints).toEqual([]);

    await using viewers = await openAs('vera', 'prod/peers/found-box');
    await viewers.page
      .getByRole('status')
      .filter({ hasText: /^Deleted .+ by +admin/ })
      .waitFor();
    expect(viewers.complaints).toEqual([]);
  });

  test('a viewer reads all of it and finds nothing to change it with; an empty list says the next step', async () => {
    await using dashboard = await openAs('vera', 'prod/peers/web-1');
    const card = dashboard.page.getByRole('article', { name: 'web-1' });
    await card.getByText('Public key').waitFor();
    expect(await card.getByRole('button', { name: /Approve|Adopt|Revoke|Delete|Save/ }).count()).toBe(0);
    expect(await dashboard.page.getByRole('link', { name: 'Add a device' }).count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);

    await using fresh = await startHarness();
    await fresh.workspace();
    await ownPassword(fresh);
    await using empty = await openDashboard(browser, fresh);
    await empty.go('prod/peers');
    await empty.signIn('admin', PASSWORD);
    await empty.page.getByText('No devices yet.').getByRole('link', { name: 'Add a device' }).click();
    await empty.page.getByRole('button', { name: 'Create join token' }).waitFor();
    expect(empty.complaints).toEqual([]);
  });

  test.each([
    ['light', 390],
    ['dark', 1280],
    ['light', 2560],
  ] as const)('axe finds no fault in %s at %i pixels', async (theme, width) => {
    await using dashboard = await openAs('admin', 'prod/peers/web-1', { theme, width });
    await dashboard.page.getByRole('article', { name: 'web-1' }).waitFor();
    expect(await accessibilityFaults(dashboard.page)).toEqual([]);
  });
});

function hasValue(peer: object, path: string): boolean {
  const value = path.split('.').reduce<unknown>((inner, field) => Object(inner)[field], peer);
  return value !== undefined && value !== null && value !== '' && JSON.stringify(value) !== '{}';
}
