import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, chromium, type Frame, type Page } from 'playwright-core';
import type { Harness } from '../http/harness.ts';
import { leave, watch } from './shown.ts';

/** The same pages take two thirds of the processor time in the one that has no window at all. */
const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync);

export const hasBrowser = CHROMIUM !== undefined;

export type Theme = 'light' | 'dark';

export interface DashboardOptions {
  readonly theme?: Theme;
  /** CSS pixels. */
  readonly width?: number;
  /** What the clock of the page says, at all times. */
  readonly now?: number;
  /** Of the browser; that of this process unless given. */
  readonly timeZone?: string;
}

/** One browser for the pages of a test file. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    ...(CHROMIUM && { executablePath: CHROMIUM }),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

/** A fresh browser profile on the dashboard of a plane. What the page complains of, and asks of others, is kept. */
export async function openDashboard(browser: Browser, harness: Pick<Harness, 'url'>, options: DashboardOptions = {}) {
  const { theme = 'light', width = 1280, now, timeZone } = options;
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    ...(timeZone !== undefined && { timezoneId: timeZone }),
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  watch(page);
  if (now !== undefined) await page.clock.setFixedTime(now);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // A refused request is told by the page itself.
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (['error', 'warning'].includes(message.type()) && !isRefusal) complaints.push(message.text());
  });
  page.on('request', (request) => {
    const { origin } = new URL(request.url());
    if (origin !== harness.url && !request.url().startsWith('data:')) complaints.push(`asked ${request.url()}`);
  });
  const { pathname, origin } = new URL(harness.url);
  await page.goto(origin + pathname);
  return {
    page,
    complaints,
    signIn: (username: string, password: string) => signIn(page, username, password),
    async signOut(): Promise<void> {
      await page.getByRole('button', { name: /^Account of / }).click();
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    },
    /** By the address, as a shared link: `prod/peers`. */
    async go(address: string): Promise<void> {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${address}`)}`);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await leave(page);
      await context.close();
    },
  };
}

export type Dashboard = Awaited<ReturnType<typeof openDashboard>>;

async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('User name').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

const RULES = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] };
/** What another theme can do wrong. */
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };
/** What more room can do wrong. */
const PLACES = { type: 'rule', values: ['target-size', 'scrollable-region-focusable'] };
/** By width in CSS pixels. On the widest all that is shown is what the middle one shows too, in other places. */
const LOOKS = [
  [390, { light: RULES, dark: COLOURS }],
  [1280, { light: RULES, dark: COLOURS }],
  [2560, { light: PLACES }],
] as const;
/** CSS pixels. */
const HIGHEST = 100_000;
/** What is modal is judged alone: the page below it was. */
const CONTEXT = "document.querySelector('dialog[open]') ?? document";
const TWO_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

/**
 * What axe finds against the rules of WCAG 2.2 AA, in place: in both themes at the widths of a phone and of a desk, and what is
 * of places at one that is twice as wide; and by how much it is wider than the window.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const size = page.viewportSize() ?? { width: 1280, height: 900 };
  const faults: string[] = [];
  for (const [width, themes] of LOOKS) {
    await showWhole(page, width);
    for (const [colorScheme, rules] of Object.entries(themes) as [Theme, typeof RULES][]) {
      await page.emulateMedia({ colorScheme });
      const found = await faultsBy(page, rules);
      faults.push(...found.map((fault) => `${width} px, ${colorScheme}: ${fault}`));
    }
    const over = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    if (over > 0) faults.push(`${width} px: it scrolls sideways by ${over} px`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(size);
  return faults;
}

/**
 * Makes the window as high as the page, some of which grows with it: what is half under the bar at its foot would count as
 * too small.
 */
async function showWhole(page: Page, width: number): Promise<void> {
  for (let height = 900; height <= HIGHEST; ) {
    await page.setViewportSize({ width, height });
    const needed = await page.evaluate<number>('document.documentElement.scrollHeight');
    if (needed <= height) return;
    height = Math.ceil(needed * 1.5);
  }
  throw new Error(`The page is higher than its window, however high that is: ${HIGHEST} px.`);
}

/** What axe finds in one frame as it is, without those within it. */
export async function faultsBy(page: Page | Frame, rules: typeof RULES = RULES): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source);
  const options = JSON.stringify({ runOnly: rules, resultTypes: ['violations'], preload: false });
  const run = `${TWO_FRAMES}.then(() => axe.run(${CONTEXT}, ${options}))`;
  const { violations } = (await page.evaluate(run)) as axe.AxeResults;
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}
