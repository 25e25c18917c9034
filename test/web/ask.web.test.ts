import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { OWN_PASSWORD, type PastNetwork, startPastNetwork } from '../kits/web/past-network.ts';

const QUESTION = 'Who blocked web-1 from orders-db on 5432?';

describe.skipIf(!hasBrowser)('questions on the dashboard', () => {
  let browser: Browser;
  let harness: PastNetwork;
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startPastNetwork()]);
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  async function open(address: string, username = 'admin', options = {}) {
    const dashboard = await openDashboard(browser, harness, options);
    await dashboard.go(address);
    await dashboard.signIn(username, OWN_PASSWORD);
    return dashboard;
  }

  test('a link fills the question in and sends nothing; keys send it, and its finding leads to a plan that puts it back', async () => {
    await using dashboard = await open(`prod/ask?q=${encodeURIComponent(QUESTION)}`);
    const { page } = dashboard;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const field = page.getByRole('textbox', { name: /^Question/ });
    await expect.poll(() => field.inputValue()).toBe(QUESTION);
    await page.getByRole('button', { name: /^Who blocked/ }).waitFor();
    await page.getByText('Days and times are read in UTC, the time zone of the workspace.').waitFor();
    expect(asked.filter((path) => path.includes('/ai/'))).toEqual([]);

    await field.focus();
    await page.keyboard.press('Enter');
    const answer = page.getByRole('article');
    await answer.getByText('Findings (2)').waitFor();
    expect(await answer.textContent()).toContain('because policy web-to-db was deleted');
    await answer.getByText('Steps').click();
    await answer.getByText('asks find_cause').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await answer.getByRole('button', { name: 'Revert' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Opens TCP 5432 from role=web (2 peers) to orders-db').first().waitFor();
    await page.keyboard.press('Escape');
    await answer
      .getByRole('link', { name: /^View this moment/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Time' }).waitFor();
    expect(page.url()).toContain('at=');
    expect(dashboard.complaints).toEqual([]);
  });

  test('every example has an answer, and questions of the session are there again without being asked anew', async () => {
    await using dashboard = await open('prod/ask');
    const { page } = dashboard;
    const examples = page.getByRole('listitem').getByRole('button');
    await examples.first().waitFor();
    const texts = await examples.allTextContents();
    expect(texts.length).toBe(5);
    const answer = page.getByRole('article');
    for (const text of texts) {
      await page.getByRole('textbox', { name: /^Question/ }).fill(text);
      await page.getByRole('button', { name: 'Ask', exact: true }).click();
      await answer
        .and(page.locator('[aria-busy=false]'))
        .filter({ has: page.getByRole('heading', { name: text }) })
        .waitFor();
      expect(await answer.getByRole('alert').count(), text).toBe(0);
    }
    await answer.getByText(/^Answered by the /).waitFor();
    await answer.getByRole('link', { name: 'Full answer' }).waitFor();
    let streams = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/ai/debug')) streams += 1;
    });
    await page.getByRole('button', { name: texts[0] ?? '' }).click();
    await answer.getByRole('heading', { name: texts[0] ?? '' }).waitFor();
    expect(streams).toBe(0);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('heading', { name: 'Questions of this session' }).waitFor({ state: 'detached' });
    expect(dashboard.complaints).toEqual([]);
  });

  test('what is no question is asked back as text, with what to do', async () => {
    await using dashboard = await open('prod/ask');
    const { page } = dashboard;
    await page
      .getByRole('textbox', { name: /^Question/ })
      .fill('Who blocked <img src=x onerror=alert(1)> from orders-db?');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'Request' }).waitFor();
    expect(await page.getByRole('main').getByRole('link', { name: 'Audit' }).getAttribute('href')).toContain(
      '/prod/audit',
    );
    await page.getByRole('heading', { name: 'Who blocked <img src=x onerror=alert(1)> from orders-db?' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('a question about a name that there is not is asked with one that there is, by a click', async () => {
    await using dashboard = await open('prod/ask');
    const { page } = dashboard;
    await page.getByRole('textbox', { name: /^Question/ }).fill('Who blocked web-11 from orders-db on 5432?');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('button', { name: QUESTION }).click();
    await page.getByRole('heading', { name: QUESTION }).waitFor();
    await page.getByRole('article').getByText('Findings (2)').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('who may change nothing gets the answer, and no plan', async () => {
    await using dashboard = await open(`prod/ask?q=${encodeURIComponent(QUESTION)}`, 'vera');
    const { page } = dashboard;
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('article').getByText('Findings (2)').waitFor();
    expect(await page.getByRole('button', { name: 'Revert' }).count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });
});
