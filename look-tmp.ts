import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { ADMIN_PASSWORD, startHarness } from './test/kits/http/harness.ts';
import { webAndDatabase } from './test/kits/http/network-setup.ts';
const out = '/tmp/look'; mkdirSync(out, { recursive: true });
const harness = await startHarness();
const { token, workspace } = await webAndDatabase(harness);
const own = 'a password of my own 42';
for (const intent of ['let the web servers reach the database on port 5432 and nobody else','let the laptop reach db-1 on port 22']) {
  const plan = await harness.api('POST', '/api/v1/ai/intent/plan', { token, body: { workspace_id: workspace, intent, dry_run: false } });
  await harness.api('POST', '/api/v1/ai/intent/apply', { token, workspace, body: { plan_id: plan.body.plan_id, approved_by: 'admin' } });
}
await harness.api('PUT', '/api/v1/users/me/password', { token, body: { oldPassword: ADMIN_PASSWORD, newPassword: own } });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
for (const [theme, width] of [['light', 1280], ['dark', 390]] as const) {
  const context = await browser.newContext({ viewport: { width, height: 1000 }, colorScheme: theme });
  const page = await context.newPage();
  page.on('console', (m) => console.log(m.text()));
  await page.goto(harness.url);
  await page.getByLabel('User name').fill('admin');
  await page.getByLabel('Password', { exact: true }).fill(own);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  for (const hash of process.argv.slice(2)) {
    await page.evaluate(`location.hash = '#/prod/${hash}'`);
    if (hash === 'review') { await page.waitForTimeout(400); await page.locator('.queue .list a').first().click(); await page.waitForTimeout(600);
      for (const d of await page.locator('article details > summary').all()) await d.click(); }
    await page.waitForTimeout(600);
    await page.screenshot({ path: `${out}/${hash.replaceAll('/', '_')}-${theme}.png`, fullPage: true });
  }
}
await browser.close(); await harness[Symbol.asyncDispose]();
