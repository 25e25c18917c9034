import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser, openDashboard } from '../test/kits/web/dashboard.ts';
import type { PageName } from '../test/kits/web/page-addresses.ts';
import { PASSWORD } from '../test/kits/web/page-people.ts';
import { NOW, type SeededNetwork, seededNetwork } from '../test/kits/web/seeded-network.ts';
import { takeTour } from './tour.ts';

/**
 * Takes a picture of each page of the dashboard in the light theme, of the network that the tests look at, and the moving
 * picture of the README: `npm run screens`, after `npm run build`. Look at what changed before it is committed.
 */
const FOLDER = path.join(import.meta.dirname, 'screens');
const TOUR = path.join(import.meta.dirname, 'tour.webp');
const WIDTH = 1280;
const QUALITY = 75;

interface Shown {
  /** Below the workspace; the page itself where it is left out. */
  readonly address?: (network: SeededNetwork) => string;
  /** What is done there, and what is there when it is drawn. */
  readonly ready: (page: Page) => Promise<unknown>;
}

/** An editor measures what it has drawn, and draws again. */
const SOME_FRAMES = `(async () => {
  for (let frame = 0; frame < 10; frame += 1) await new Promise(requestAnimationFrame);
})()`;

const text = (shown: string | RegExp) => (page: Page) => page.getByRole('main').getByText(shown).first().waitFor();

const SHOWN: Record<PageName, Shown> = {
  home: { ready: text('of 100') },
  setup: { address: () => 'setup/device', ready: text('Create join token') },
  review: {
    address: ({ ids }) => `review/${ids.waits}`,
    ready: text('on behalf of'),
  },
  change: {
    address: () => `change?intent=${encodeURIComponent('let role=ops reach role=web on port 22')}`,
    async ready(page) {
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByRole('article').getByText('Effect matches the orders').first().waitFor();
    },
  },
  peers: { address: () => 'peers/web-1', ready: text('10.96.0.1') },
  topology: { address: () => 'topology?by=role', ready: (page) => page.locator('canvas[aria-busy=false]').waitFor() },
  reachability: {
    address: () => 'reachability?by=role&src=web-1&dst=db-1',
    ready: text('How to allow it'),
  },
  networks: { address: () => 'networks/default', ready: text('addresses in use') },
  policies: { address: () => 'policies/web-to-api', ready: (page) => page.locator('.cm-content').waitFor() },
  join: { ready: text('Laptops of the office') },
  time: { ready: text('support-access') },
  ask: {
    address: () => `ask?q=${encodeURIComponent('why can web-1 no longer reach db-1 on port 5432?')}`,
    async ready(page) {
      await page.getByRole('button', { name: 'Ask', exact: true }).click();
      await text(/^Findings/)(page);
    },
  },
  agents: { address: () => 'agents/ops-agent', ready: text('list_peers') },
  connect: { ready: text('Never approves') },
  allow: { address: ({ ids }) => `allow/${ids.clientRequest}`, ready: text('Codes are sent to') },
  compliance: { address: ({ ids }) => `compliance/assessments/${ids.evidence}`, ready: text('PCI-DSS-1.3') },
  audit: { address: ({ ids }) => `audit/${ids.entry}`, ready: text('which is signed') },
  settings: { address: () => 'settings/people', ready: text('vera') },
};

mkdirSync(FOLDER, { recursive: true });
await using network = await seededNetwork();
const browser = await launchBrowser();
try {
  await using dashboard = await openDashboard(browser, network, { theme: 'light', now: NOW, width: WIDTH });
  const { page } = dashboard;
  await dashboard.signIn('admin', PASSWORD);
  for (const [name, { address, ready }] of Object.entries(SHOWN)) {
    await page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
    await dashboard.go(`prod/${address?.(network) ?? name}`);
    await ready(page);
    await page.mouse.move(0, 0);
    await page.evaluate(SOME_FRAMES);
    writeFileSync(path.join(FOLDER, `${name}-light.webp`), await pictureOf(page));
    await dashboard.go('prod/home');
  }
  // Nothing that was typed before is kept in another window.
  await using another = await openDashboard(browser, network, { theme: 'light', now: NOW });
  await another.signIn('admin', PASSWORD);
  await another.page.getByRole('heading', { name: 'Home', exact: true }).waitFor();
  await takeTour(another, TOUR);
} finally {
  await browser.close();
}

/** Playwright takes PNG and JPEG alone. */
async function pictureOf(page: Page): Promise<Uint8Array> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  return Buffer.from(data, 'base64');
}
