import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { launchBrowser, openDashboard } from '../test/kits/web/dashboard.ts';
import { PASSWORD } from '../test/kits/web/page-people.ts';
import { machine, median } from './report.ts';
import { type FrameTimes, frameTimes } from './web/trace.ts';
import { type Work, workOf } from './web/work.ts';

/**
 * How the dashboard does with many peers: `npm run build && node bench/web.ts [peers]`. Chromium without a graphics card on
 * the machine of the control plane. Goals are of the processor time of the page's thread, by trace.
 */
const [peers = 5_000] = process.argv.slice(2).map(Number);
const STEPS = 120;
const ROUNDS = 5;
const ASSETS = path.resolve(import.meta.dirname, '../web/dist/assets');
/** Goals, ms of processor time. */
const [FIRST_VIEW, INTERACTION] = [1_500, 100];
const ALL_ROWS = `document.querySelector('table')?.ariaRowCount > ${peers}`;
const SORTED = (name: string) => `new URLSearchParams(location.hash.split('?')[1]).get('sort') === '${name}'`;
const HOME = `document.querySelector('main')?.textContent.includes('of ${peers}')`;
const PLACES = "performance.clearMarks('topology-drawn'); localStorage.clear()";
const DRAWN = "performance.getEntriesByName('topology-drawn').length > 0";

const plane = fork(new URL('web/plane.ts', import.meta.url), [String(peers)]);
const browser = await launchBrowser();
try {
  const [url] = (await once(plane, 'message')) as [string];
  console.log(
    `${peers} peers; ${machine()}; ${new Date().toISOString().slice(0, 10)}; load ${loadavg()[0]?.toFixed(1)}\n`,
  );
  console.log('| What | Goal, ms of processor | Processor, ms | As a person waits, ms |\n|---|---|---|---|');
  await using dashboard = await openDashboard(browser, { url });
  const { page } = dashboard;
  await page.getByText('Stay signed in').click();
  await dashboard.signIn('admin', PASSWORD);
  await page.getByRole('heading', { name: 'Home' }).waitFor();

  const measure = (act: () => Promise<unknown>, condition: string) => workOf(browser, page, act, condition);
  const go = (address: string) => () => dashboard.go(`prod/${address}`);
  /** Without a locator, whose search in the page would be measured too. */
  const type = (field: string, text: string) => () =>
    page.evaluate(`(() => {
      const field = document.querySelector('${field}');
      field.value = '${text}';
      field.dispatchEvent(new Event('input', { bubbles: true }));
    })()`);
  const sortBy = (name: string) => () =>
    page.evaluate(
      `[...document.querySelectorAll('th button')].find(({ textContent }) => textContent.startsWith('${name}')).click()`,
    );
  const repeated = async (what: string, goal: number, round: () => Promise<Work>) => {
    const all: Work[] = [];
    for (let n = 0; n < ROUNDS; n += 1) all.push(await round());
    row(what, goal, all);
  };

  await repeated('First view: Home', FIRST_VIEW, () => measure(() => page.reload(), HOME));
  await repeated('Peers, all rows', FIRST_VIEW, async () => {
    await go('home')();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    return measure(go('peers'), ALL_ROWS);
  });
  await repeated('Filter Peers', INTERACTION, async () => {
    const work = await measure(type('main input', 'node-1234'), "document.querySelector('table').ariaRowCount === '2'");
    await type('main input', '')();
    return work;
  });
  let turn = 0;
  await repeated('Sort Peers', INTERACTION, () => {
    const name = ['Name', 'State'][turn++ % 2] ?? '';
    return measure(sortBy(name), SORTED(name));
  });
  await repeated('Open a peer', INTERACTION, () => {
    const name = `node-${turn++}`;
    return measure(go(`peers/${name}`), `document.querySelector('article h2')?.textContent === '${name}'`);
  });
  await repeated('Search (Ctrl K) for a peer', INTERACTION, async () => {
    await page.keyboard.press('Control+k');
    const found = "document.querySelector('[role=option]')?.textContent.includes('node-1234')";
    const work = await measure(type('dialog input', 'node-1234'), found);
    await page.keyboard.press('Escape');
    return work;
  });
  await repeated('Topology of 50 groups by role', INTERACTION, async () => {
    await go('home')();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.evaluate(PLACES);
    return measure(go('topology?by=role'), DRAWN);
  });
  await repeated('Pick a group of it', INTERACTION, () =>
    measure(go(`topology?by=role&one=label+r${turn++ % 50}`), "document.querySelector('.beside-picture article')"),
  );
  await repeated('Matrix of 40 groups by role', INTERACTION, async () => {
    await go('home')();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    return measure(go('reachability?by=role'), "document.querySelectorAll('td.cell').length > 1000");
  });

  console.log(
    '\n| Frames | Script a frame, p50, p99, most, ms | Style, layout and paint, ms | Frames |\n|---|---|---|---|',
  );
  await go('peers')();
  await page.locator(`table[aria-rowcount="${peers + 1}"]`).waitFor();
  const table = await page.locator('section.table').boundingBox();
  if (!table) throw new Error('There is no table.');
  await page.mouse.move(table.x + 200, table.y + 200);
  const scrolled = await frameTimes(browser, page, async () => {
    for (let step = 0; step < STEPS; step += 1) await page.mouse.wheel(0, step % 10 === 0 ? 10_000 : 400);
  });
  rowOfFrames(`scrolling ${peers} rows`, scrolled);
  for (const [what, query] of [
    ['50 groups by role', 'by=role'],
    ['200 peers of one zone alone, 2,000 lines', 'by=zone&expand=label+z0'],
  ] as const) {
    await page.evaluate(PLACES);
    await go(`topology?${query}`)();
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
    rowOfFrames(`panning, ${what}`, panned);
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
}

function row(what: string, goal: number, all: readonly Work[]): void {
  const text = (values: readonly number[]) => `${median(values).toFixed(0)}, most ${Math.max(...values).toFixed(0)}`;
  const [processor, waited] = [all.map(({ processorMs }) => processorMs), all.map(({ waitedMs }) => waitedMs)];
  console.log(`| ${what} | ${goal} | ${text(processor)} | ${text(waited)} |`);
}

function rowOfFrames(what: string, { frames, script, rendering }: FrameTimes): void {
  const text = ({ p50, p99, most }: FrameTimes['script']) => [p50, p99, most].map((ms) => ms.toFixed(1)).join(', ');
  console.log(`| ${what} | ${text(script)} | ${text(rendering)} | ${frames} |`);
}
