import { createHash } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { ADMIN_PASSWORD, type Harness, startHarness } from '../kits/http/harness.ts';
import { hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { OWN_PASSWORD, shopNetwork, VIEWER_PASSWORD } from '../kits/web/shop-network.ts';

describe.skipIf(!hasBrowser)('topology on the dashboard', () => {
  let browser: Browser;
  let harness: Harness;
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
    await shopNetwork(harness);
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  test('with keys alone one goes from a group to a connection and why it is open, and opens the group', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/topology?by=role');
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page.getByText('24 lines drawn.').waitFor();
    await page.getByRole('img', { name: '8 groups and peers and 24 lines' }).waitFor();
    await page.getByText('An arrow points to who can be reached').waitFor();
    const press = async (role: 'button' | 'link', name: string) => {
      await page.getByRole(role, { name, exact: true }).first().focus();
      await page.keyboard.press('Enter');
    };
    await press('button', 'api');
    const group = page.getByRole('article', { name: 'api' });
    await group.getByText('4 peers, 4 online').waitFor();
    await group.getByText('TCP 5432').waitFor();
    await group.getByText('8 of 8 pairs').first().waitFor();
    await press('button', 'db');
    await page.getByText('1 direct, 1 relayed').waitFor();
    await page
      .getByRole('region', { name: 'Answer: role=api to role=db' })
      .getByText('8 of 8 pairs are reachable on some ports.')
      .waitFor();
    await page.getByRole('region', { name: 'Answer: role=db to role=api' }).getByText('None of these').waitFor();
    await press('button', 'Back to api');
    await press('button', 'Show the peers of api');
    await page.getByRole('button', { name: 'api-3', exact: true }).waitFor();
    await press('button', 'api-1');
    await press('button', 'db');
    await page
      .getByRole('region', { name: 'Answer: api-1 to role=db' })
      .getByText('2 of 2 pairs are reachable on some ports.')
      .waitFor();
    await press('button', 'Collapse');
    await page.getByText('24 lines drawn.').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('the focus is in what is picked as soon as it is there, before a frame is drawn', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/topology?by=role');
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page.getByText('24 lines drawn.').waitFor();
    const part = "document.querySelector('.beside-picture')";
    const focused = await page.evaluate(`new Promise((done) => {
      new MutationObserver(() => done(document.activeElement === ${part})).observe(${part}, { childList: true });
      ${part}.querySelector('.node-list button').click();
    })`);
    expect(focused).toBe(true);
    expect(dashboard.complaints).toEqual([]);
  });

  test('what is pointed at in the picture is picked, and dragging moves what is seen', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/topology?by=role');
    await dashboard.signIn('admin', OWN_PASSWORD);
    await drawn(page);
    const before = await pictureOf(page);
    const at = await findSomething(page);
    await page.mouse.click(at.x, at.y);
    await page.getByRole('button', { name: /^(All groups and peers|Back to )/ }).waitFor();
    expect(page.url()).toContain('one=');
    const corner = await page.locator('canvas').boundingBox();
    const [x, y] = [(corner?.x ?? 0) + 6, (corner?.y ?? 0) + 6];
    await page.mouse.click(x, y);
    await page.getByText('Pick a group or a peer').waitFor();
    await expect.poll(() => pictureOf(page)).toBe(before);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 60, y + 40, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => pictureOf(page)).not.toBe(before);
    await page.getByRole('button', { name: 'Fit' }).click();
    await expect.poll(() => pictureOf(page)).toBe(before);
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await expect.poll(() => pictureOf(page)).not.toBe(before);
    expect(dashboard.complaints).toEqual([]);
  });

  test('what is pointed at, or has the focus in the list, stands out with its ports until it is left', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/topology?by=role');
    await dashboard.signIn('admin', OWN_PASSWORD);
    await drawn(page);
    const before = await pictureOf(page);
    await findSomething(page);
    await expect.poll(() => pictureOf(page)).not.toBe(before);
    await page.getByRole('heading', { name: 'Topology' }).hover();
    await expect.poll(() => pictureOf(page)).toBe(before);
    await page.getByRole('button', { name: 'db', exact: true }).focus();
    await expect.poll(() => pictureOf(page)).not.toBe(before);
    await page.getByRole('button', { name: 'Re-layout' }).focus();
    await expect.poll(() => pictureOf(page)).toBe(before);
    expect(dashboard.complaints).toEqual([]);
  });

  test('the picture is fitted to each size of its window, until somebody moves or zooms it', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/topology?by=role');
    await dashboard.signIn('admin', OWN_PASSWORD);
    await drawn(page);
    const width = () => page.evaluate("document.querySelector('canvas').width");
    const resize = async (to: number) => {
      const before = await width();
      await page.setViewportSize({ width: to, height: 900 });
      await expect.poll(width).not.toBe(before);
      await drawn(page);
    };
    const before = await pictureOf(page);
    await resize(800);
    const small = await pictureOf(page);
    await page.getByRole('button', { name: 'Fit' }).click();
    await drawn(page);
    expect(await pictureOf(page)).toBe(small);
    await resize(1280);
    expect(await pictureOf(page)).toBe(before);
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await expect.poll(() => pictureOf(page)).not.toBe(before);
    const zoomed = await pictureOf(page);
    await resize(800);
    await resize(1280);
    expect(await pictureOf(page)).toBe(zoomed);
    expect(dashboard.complaints).toEqual([]);
  });

  test('everything stands where it stood after another visit, when groups open, and at another time', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/topology?by=role');
    await dashboard.signIn('admin', OWN_PASSWORD);
    await drawn(page);
    const before = await pictureOf(page);
    const places = await placesOf(page);
    expect(Object.keys(places)).toHaveLength(8);
    await dashboard.go('prod/peers');
    await page.getByRole('link', { name: 'laptop-anna' }).waitFor();
    await dashboard.go('prod/topology?by=role');
    await drawn(page);
    await expect.poll(() => pictureOf(page)).toBe(before);

    await dashboard.go('prod/topology?by=role&expand=label+web');
    await page.getByRole('button', { name: 'web-6', exact: true }).waitFor();
    await expect.poll(async () => Object.keys(await placesOf(page)).length).toBe(14);
    expect(await placesOf(page)).toMatchObject(places);

    await dashboard.go(`prod/topology?by=role&at=${encodeURIComponent(formatInstant(Date.now()))}`);
    await page.getByText('Paths are known of now alone.').waitFor();
    expect(await placesOf(page)).toMatchObject(places);

    // What stays in the browser names nobody.
    const kept = String(await page.evaluate('JSON.stringify(localStorage)'));
    for (const name of ['web', 'laptop', 'role', 'img']) expect(kept).not.toContain(name);

    // What is read meanwhile is placed anew, not by what is shown.
    await dashboard.go('prod/topology?by=role&expand=label+web');
    await page.getByRole('button', { name: 'web-6', exact: true }).waitFor();
    const read = Promise.withResolvers<void>();
    await page.route('**/api/v1/connectivity/summary**', async (route) => {
      await read.promise;
      await route.continue();
    });
    await dashboard.go('prod/topology?by=role');
    await page.locator('canvas[aria-busy=true]').waitFor();
    await page.getByRole('button', { name: 'Re-layout' }).click();
    await expect.poll(async () => Object.keys(await placesOf(page)).length).toBe(13);
    read.resolve();
    await expect.poll(() => placesOf(page)).toEqual(places);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a viewer sees it as it is now, with changes as they happen', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/topology?by=role&one=label+build');
    await dashboard.signIn('vera', VIEWER_PASSWORD);
    const group = page.getByRole('article', { name: 'build' });
    await group.getByText('3 peers, 0 online').waitFor();
    const token = await harness.login('admin', OWN_PASSWORD);
    const { body } = await harness.api('GET', '/api/v1/workspaces', { token });
    const { id: workspace } = body.items.find(({ slug }: { slug: string }) => slug === 'prod');
    const asked = { token, workspace, body: { labels: { role: 'build' } } };
    expect((await harness.api('PATCH', '/api/v1/peers/printer', asked)).status).toBe(200);
    await group.getByText('4 peers, 1 online').waitFor();
    expect((await harness.api('PATCH', '/api/v1/peers/printer', { ...asked, body: { labels: {} } })).status).toBe(200);
    await group.getByText('3 peers, 0 online').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('an empty network says the next step, and a question that is wrong what is wrong', async () => {
    await using fresh = await startHarness();
    const { token } = await fresh.workspace('prod');
    const passwords = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
    await fresh.api('PUT', '/api/v1/users/me/password', { token, body: passwords });
    await using empty = await openDashboard(browser, fresh);
    await empty.go('prod/topology');
    await empty.signIn('admin', OWN_PASSWORD);
    await empty.page.getByText('No devices yet.').waitFor();
    await empty.page.getByRole('main').getByRole('link', { name: 'Add a device' }).waitFor();
    expect(empty.complaints).toEqual([]);

    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/topology?label=nonsense');
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page.getByRole('alert').filter({ hasText: 'Write key=value' }).waitFor();
    await dashboard.go('prod/topology?label=role%3Dnone');
    await page.getByText('Nothing matches').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });
});

async function drawn(page: Page): Promise<void> {
  await page.locator('canvas[aria-busy=false]').waitFor();
  // What was placed in one frame is drawn in the next.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
}

/** The pixels of the picture, in short. */
async function pictureOf(page: Page): Promise<string> {
  const pixels = String(await page.evaluate("document.querySelector('canvas').toDataURL()"));
  return createHash('sha256').update(pixels).digest('base64url');
}

/** Where things stand, by the digests of their names. */
async function placesOf(page: Page): Promise<Record<string, readonly number[]>> {
  const kept = await page.evaluate(
    "JSON.parse(Object.entries(localStorage).find(([key]) => key.startsWith('mesh.topology'))?.[1] ?? '[]')",
  );
  return Object.fromEntries((kept as [string, number, number][]).map(([key, ...place]) => [key, place]));
}

/** A point of the screen at which something can be picked. */
async function findSomething(page: Page): Promise<{ readonly x: number; readonly y: number }> {
  const box = await page.locator('canvas').boundingBox();
  if (!box) throw new Error('There is no picture.');
  for (let y = box.y + 20; y < box.y + box.height; y += 20) {
    for (let x = box.x + 20; x < box.x + box.width; x += 20) {
      await page.mouse.move(x, y);
      if ((await page.evaluate("document.querySelector('canvas').style.cursor")) === 'pointer') return { x, y };
    }
  }
  throw new Error('Nothing can be picked.');
}
