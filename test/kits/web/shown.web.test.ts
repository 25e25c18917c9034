import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasBrowser, launchBrowser } from './dashboard.ts';
import { everythingShown, forgetClosed, leave, watch } from './shown.ts';

const SECRET = 'mesh-join-Zm9vYmFyYmF6cXV4';
const PAGE = `<!doctype html><title>Join</title><main>
  <h1>Join a device</h1><pre>mesh up ABCD-EFGH</pre><p>With ${SECRET}.</p><p hidden>unseen</p>
  <p role="alert">It was refused.</p><p role="status"></p>
  <label>Password <input type="password" value="hunter2" autofocus></label>
</main>`;
const TOLD = `The page showed:
  title: Join
  address: blank
  focused: input Password
  alerts: It was refused.
  main: Join a device (code) With (secret). It was refused. Password`;

test.skipIf(!hasBrowser)(
  'a page is told as somebody would see it, without secrets, also after it was closed',
  async () => {
    const page = await browser.newPage();
    watch(page);
    await page.setContent(PAGE);
    await page.getByLabel('Password').focus();
    expect(await everythingShown()).toEqual([TOLD]);
    await leave(page);
    await page.close();
    expect(await everythingShown()).toEqual([TOLD]);
    forgetClosed();
    expect(await everythingShown()).toEqual([]);
  },
);

test.skipIf(!hasBrowser)('a page that crashed is told as one that cannot be read', async () => {
  const page = await browser.newPage();
  watch(page);
  const crashed = page.waitForEvent('crash');
  await page.goto('chrome://crash').catch(() => undefined);
  await crashed;
  expect(await everythingShown()).toEqual([expect.stringMatching(/^What the page showed cannot be told: /)]);
  await page.close();
});

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await launchBrowser();
});
afterAll(() => browser?.close());
