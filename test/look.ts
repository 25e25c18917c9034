import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { ADMIN_PASSWORD, startHarness } from './kits/http/harness.ts';
import { webAndDatabase } from './kits/http/network-setup.ts';

const out = '/tmp/look';
mkdirSync(out, { recursive: true });
const harness = await startHarness();
const { token, workspace } = await webAndDatabase(harness);
for (const intent of [
  'let the web servers reach the database on port 5432 and nobody else',
  'let the laptop reach db-1 on port 22',
]) {
  const plan = await harness.api('POST', '/api/v1/ai/intent/plan', {
    token,
    body: { workspace_id: workspace, intent, dry_run: false },
  });
  await harness.api('POST', '/api/v1/ai/intent/apply', {
    token,
    workspace,
    body: { plan_id: plan.body.plan_id, approved_by: 'admin' },
  });
}
await harness.api('PUT', '/api/v1/users/me/password', {
  token,
  body: { oldPassword: ADMIN_PASSWORD, newPassword: 'own password 4242' },
});
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
for (const [theme, width] of [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
] as const) {
  const page = await browser.newPage({ viewport: { width, height: 860 }, colorScheme: theme });
  page.on('console', (m) => console.log('console', m.type(), m.text()));
  page.on('pageerror', (e) => console.log('pageerror', e.message));
  await page.goto(harness.url);
  await page.waitForSelector('form');
  await page.screenshot({ path: `${out}/sign-in-${theme}-${width}.png` });
  await page.fill('[name=username]', 'admin');
  await page.fill('[name=password]', 'own password 4242');
  await page.click('button[type=submit]');
  for (const hash of process.argv.slice(2)) {
    await page.evaluate(`location.hash = ${JSON.stringify(`#/prod/${hash}`)}`);
    await page.waitForTimeout(500);
    if (hash === 'review') await page.keyboard.press('j');
    await page.waitForTimeout(400);
    await page.screenshot({ path: `${out}/${hash || 'home'}-${theme}-${width}.png`, fullPage: true });
  }
}
await browser.close();
await harness[Symbol.asyncDispose]();
process.exit(0);
