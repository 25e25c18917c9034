import { existsSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Harness } from '../http/harness.ts';

const CHROMIUM = '/usr/bin/chromium';

export const hasBrowser = existsSync(CHROMIUM);

export type Theme = 'light' | 'dark';

export interface DashboardOptions {
  readonly theme?: Theme;
  /** CSS pixels. */
  readonly width?: number;
}

/** One browser for the pages of a test file. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

/** A fresh browser profile on the dashboard of a plane. What the page complains of, and asks of others, is kept. */
export async function openDashboard(browser: Browser, harness: Pick<Harness, 'url'>, options: DashboardOptions = {}) {
  const { theme = 'light', width = 1280 } = options;
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
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
    /** By the address, as a shared link: `prod/peers`. */
    async go(address: string): Promise<void> {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${address}`)}`);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await context.close();
    },
  };
}

export type Dashboard = Awaited<ReturnType<typeof openDashboard>>;

async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('User name').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** What axe finds against the rules of WCAG 2.2 AA, as `rule: element`. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const size = page.viewportSize() ?? { width: 1280, height: 900 };
  // Higher than any page: what is half under the bar at its foot would count as too small.
  await page.setViewportSize({ ...size, height: 4_000 });

  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  await page.setViewportSize(size);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}
