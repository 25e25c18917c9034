import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { ADMIN_PASSWORD, apiOf } from '../test/kits/http/harness.ts';
import { launchBrowser, openDashboard } from '../test/kits/web/dashboard.ts';
import { machine, median } from './report.ts';
import { type FrameTimes, frameTimes } from './web/trace.ts';

/**
 * How the dashboard does with many peers: `npm run build && node bench/web.ts [peers]`. Chromium without a graphics card on
 * the machine of the plane. Times of frames are what the page's thread worked, by trace; the others are as a person waits.
 */
const [peers = 5_000] = process.argv.slice(2).map(Number);
const OWN_PASSWORD = 'a password of my own 42';
const STEPS = 120;
const ROUNDS = 5;
const ASSETS = path.resolve(import.meta.dirname, '../web/dist/assets');

const directory = mkdtempSync(path.join(tmpdir(), 'mesh-bench-'));
const filling = fork(new URL('stall/fill.ts', import.meta.url), [directory, String(peers), '0']);
await once(filling, 'exit');
const plane = fork(new URL('stall/plane.ts', import.meta.url), [directory]);
const browser = await launchBrowser();
try {
  const [url] = (await once(plane, 'message')) as [string];
  const api = apiOf(url);
  const first = { username: 'admin', password: ADMIN_PASSWORD };
  const { token } = (await api('POST', '/api/v1/users/login', { body: first })).body.data;
  const passwords = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
  await api('PUT', '/api/v1/users/me/password', { token, body: passwords });

  console.log(
    `${peers} peers; ${machine()}; ${new Date().toISOString().slice(0, 10)}; load ${loadavg()[0]?.toFixed(1)}\n`,
  );
  console.log('| What | Goal | Figure |\n|---|---|---|');
  const interactive: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await using opened = await openDashboard(browser, { url });
    await opened.page.getByLabel('User name').waitFor();
    interactive.push(Number(await opened.page.evaluate("performance.getEntriesByType('paint').at(-1).startTime")));
  }
  row('sign-in is drawn and takes keys', '< 1,000 ms', `${median(interactive).toFixed(0)} ms`);

  await using dashboard = await openDashboard(browser, { url });
  const { page } = dashboard;
  await dashboard.signIn('admin', OWN_PASSWORD);
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  const changes: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of ['review', 'home', 'reachability']) changes.push(await pageChange(page, name));
  }
  row(
    'page change, median and most',
    '< 100 ms',
    `${median(changes).toFixed(0)}, ${Math.max(...changes).toFixed(0)} ms`,
  );

  const listed = await timed(page, 'bench/peers', '', `document.querySelector('table')?.ariaRowCount > ${peers}`);
  row(`${peers} rows of Peers are read`, '', `${listed.toFixed(0)} ms`);
  const table = await page.locator('section.table').boundingBox();
  if (!table) throw new Error('There is no table.');
  await page.mouse.move(table.x + 200, table.y + 200);
  const scrolled = await frameTimes(browser, page, async () => {
    for (let step = 0; step < STEPS; step += 1) await page.mouse.wheel(0, step % 10 === 0 ? 10_000 : 400);
  });
  rowOfFrames(`scrolling ${peers} rows`, '< 8 ms', scrolled);

  for (const [what, query, limit] of [
    ['50 groups by role', 'by=role', '< 3,000 ms'],
    ['200 peers of one zone alone, 2,000 lines', 'by=zone&expand=label+z0', '< 3,000 ms'],
  ] as const) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await dashboard.go('bench/home');
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      // As if it had never been there: everything is placed anew.
      await page.evaluate("performance.clearMarks('topology-drawn'); localStorage.clear()");
      const drawn = "performance.getEntriesByName('topology-drawn').length > 0";
      times.push(await timed(page, `bench/topology?${query}`, '', drawn));
    }
    const [first = 0] = times;
    row(
      `topology drawn, ${what}: the first time, median`,
      limit,
      `${first.toFixed(0)}, ${median(times).toFixed(0)} ms`,
    );
    await page.locator('canvas[aria-busy=false]').waitFor();
    const canvas = await page.locator('canvas').boundingBox();
    if (!canvas) throw new Error('There is no picture.');
    // In the corner, where nothing stands that would be moved.
    const [x, y] = [canvas.x + 4, canvas.y + 4];
    const panned = await frameTimes(browser, page, async () => {
      await page.mouse.move(x, y);
      await page.mouse.down();
      for (let step = 0; step < STEPS; step += 1) await page.mouse.move(x + step, y + (step % 30));
      await page.mouse.up();
    });
    rowOfFrames(`panning, ${what}`, '< 16 ms', panned);
  }
  console.log('\n| File | gzip, kB |\n|---|---|');
  for (const name of readdirSync(ASSETS).sort()) {
    const { length } = gzipSync(readFileSync(path.join(ASSETS, name)));
    console.log(`| ${name.replace(/-[\w-]{8}\./, '.')} | ${(length / 1_000).toFixed(1)} |`);
  }
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.join('\n'));
} finally {
  await browser.close();
  plane.send('stop');
  await once(plane, 'exit');
  rmSync(directory, { recursive: true, force: true });
}

function row(what: string, goal: string, figure: string): void {
  console.log(`| ${what} | ${goal} | ${figure} |`);
}

function rowOfFrames(what: string, goal: string, { frames, script, rendering }: FrameTimes): void {
  const text = ({ p50, p99, most }: FrameTimes['script']) => [p50, p99, most].map((ms) => ms.toFixed(1)).join(', ');
  row(
    `${what}: script a frame, p50, p99, most`,
    goal,
    `${text(script)} ms (${frames} frames; style, layout and paint ${text(rendering)} ms)`,
  );
}

/** From the change of the address until its heading stands, ms. */
function pageChange(page: Page, name: string): Promise<number> {
  const before = "document.querySelector('main h1')?.textContent";
  return timed(page, `bench/${name}`, `const was = ${before};`, `${before} && ${before} !== was`);
}

/** Goes to an address and waits, frame by frame, until something is so. */
async function timed(page: Page, address: string, first: string, condition: string): Promise<number> {
  const script = `(async () => {
    ${first}
    const start = performance.now();
    location.hash = ${JSON.stringify(`#/${address}`)};
    while (!(${condition})) await new Promise((done) => requestAnimationFrame(done));
    return performance.now() - start;
  })()`;
  return Number(await page.evaluate(script));
}
