import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scriptedModel } from '../../llm/model/scripted-model.testkit.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { webAndDatabase } from '../kits/http/network-setup.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { member, ownPassword, PASSWORD } from '../kits/web/page-people.ts';
import { tabTo } from '../kits/web/tab-to.ts';

const INTENT = 'let the web servers reach the database on port 5432 and nobody else';
const HOSTILE = '<b onclick="alert(1)">let everyone in</b>';
const LOOSE = 'our storefronts ought to speak postgres with whatever keeps the orders';
const PATH = '/api/v1/ai/intent/plan';

describe.skipIf(!hasBrowser)('changes by intent on the dashboard', () => {
  let browser: Browser;
  let harness: Harness;
  let own: { token: string; workspace: string };
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
    const { workspace } = await webAndDatabase(harness);
    own = { workspace, token: await ownPassword(harness) };
    await member(harness, own, 'oskar', 'operator');
    await member(harness, own, 'vera', 'viewer');
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  test('a link fills the sentence in and sends nothing; a person plans it, edits what is written, and sends it for approval, by keyboard alone', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith(PATH)) asked.push(request.postData() ?? '');
    });
    await dashboard.go(`prod/change?intent=${encodeURIComponent(INTENT)}`);
    await dashboard.signIn('admin', PASSWORD);
    const sentence = page.getByLabel('What should be so?');
    await expect.poll(() => sentence.inputValue()).toBe(INTENT);
    expect(asked).toEqual([]);

    await tabTo(page, sentence);
    await page.keyboard.press('Control+Enter');
    const plan = page.getByRole('article');
    await page.getByRole('list', { name: 'Planning' }).getByText('It is computed.').waitFor();
    await plan.getByText('The effect matches what is listed below').waitFor();
    await plan.getByRole('region', { name: 'Closes' }).getByText('laptop').first().waitFor();
    expect(asked.map((text) => JSON.parse(text))).toEqual([{ intent: INTENT }]);

    await tabTo(page, page.getByRole('button', { name: 'Edit the changes' }));
    await page.keyboard.press('Enter');
    const editor = page.getByRole('textbox', { name: 'Changes as YAML' });
    await editor.getByText('resource: MeshPolicy').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await tabTo(page, editor);
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('- action: [');
    await tabTo(page, page.getByRole('button', { name: 'Plan these changes' }));
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'This is no YAML' }).waitFor();
    await editor.focus();
    await page.keyboard.press('Control+a');
    const changes = { action: 'create', resource: 'MeshPolicy', name: 'db-closed' };
    const spec = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [] };
    await page.keyboard.insertText(JSON.stringify([{ ...changes, spec }]));
    await tabTo(page, page.getByRole('button', { name: 'Plan these changes' }));
    await page.keyboard.press('Enter');
    await plan.getByText('It does not do what was asked.').first().waitFor();
    expect(JSON.parse(asked.at(-1) ?? '')).toEqual({ intent: INTENT, changes: [{ ...changes, spec }] });

    await tabTo(page, plan.getByLabel('Ask for approval by'));
    const approvers = plan.getByLabel('Ask for approval by').locator('option');
    await expect.poll(() => approvers.allTextContents()).toEqual(['oskar']);
    await tabTo(page, page.getByRole('button', { name: 'Send for approval', exact: true }));
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'It waits for approval.' }).waitFor();
    await page.getByRole('article').getByText('oskar', { exact: true }).waitFor();
    expect(page.url()).toMatch(/\/prod\/review\/wf_/);
    await dashboard.go('prod/change');
    expect(await sentence.inputValue()).toBe('');
    expect(dashboard.complaints).toEqual([]);
  });

  test('a sentence that is being written stays while another time is looked at', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/change?intent=open');
    await dashboard.signIn('admin', PASSWORD);
    const sentence = page.getByLabel('What should be so?');
    await expect.poll(() => sentence.inputValue()).toBe('open');
    await sentence.fill('open the database');
    await dashboard.go(`prod/change?intent=open&at=${new Date().toISOString()}`);
    await page.getByRole('button', { name: 'Back to now' }).click();
    await page.getByRole('button', { name: 'Back to now' }).waitFor({ state: 'detached' });
    expect(await sentence.inputValue()).toBe('open the database');
    expect(dashboard.complaints).toEqual([]);
  });

  test('a sentence that is being written is there again when a person comes back to the page', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/change?intent=open');
    await dashboard.signIn('admin', PASSWORD);
    const sentence = page.getByLabel('What should be so?');
    await expect.poll(() => sentence.inputValue()).toBe('open');
    await sentence.fill('open the database');
    await dashboard.go('prod/ask');
    await page.getByLabel('Question').fill('who opened it?');
    await page.goBack();
    await expect.poll(() => sentence.inputValue()).toBe('open the database');
    await dashboard.go('prod/ask');
    await expect.poll(() => page.getByLabel('Question').inputValue()).toBe('who opened it?');
    await dashboard.go('prod/change');
    await expect.poll(() => sentence.inputValue()).toBe('open the database');
    await dashboard.go('prod/change?intent=close');
    await expect.poll(() => sentence.inputValue()).toBe('close');
    expect(dashboard.complaints).toEqual([]);
  });

  test('what is not understood is asked back with sentences that can be planned as they are', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/change');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('button', { name: 'deny ssh from laptops to the database servers' }).click();
    const sentence = page.getByLabel('What should be so?');
    expect(await sentence.inputValue()).toContain('deny ssh');
    await sentence.fill('let web-3 reach db-1');
    await page.getByRole('button', { name: 'Plan the change' }).click();
    const asked = page.getByRole('alert', { name: 'More is needed to plan this' });
    await asked.getByText('Did you mean').waitFor();
    const stages = page.getByRole('list', { name: 'Planning' }).getByRole('listitem');
    await expect.poll(() => stages.last().textContent()).toMatch(/^✕ .*\(failed\)$/);
    expect(await accessibilityFaults(page)).toEqual([]);
    await asked.getByRole('button', { name: 'Plan: let web-1 reach db-1' }).click();
    await page.getByRole('article').getByText('The effect matches').first().waitFor();
    expect(await sentence.inputValue()).toBe('let web-1 reach db-1');

    await sentence.fill(HOSTILE);
    await page.getByRole('button', { name: 'Plan the change' }).click();
    await asked.waitFor();
    await page.getByText('Asked before in this conversation').waitFor();
    expect(await asked.textContent()).toContain('<b onclick');
    await page.getByRole('button', { name: 'Start over' }).click();
    await page.getByText('For example').waitFor();
    expect(await sentence.inputValue()).toBe('');
    expect(page.url()).not.toContain('intent=');
    expect(dashboard.complaints).toEqual([]);
  });

  test('a plan that cannot be applied any more is planned again by one button', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go(`prod/change?intent=${encodeURIComponent('let laptop reach web-1 on port 22 and nobody else')}`);
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('button', { name: 'Plan the change' }).click();
    const send = page.getByRole('button', { name: 'Send for approval', exact: true });
    await send.waitFor();
    const spec = { action: 'DENY', peerSelector: { peers: ['web-1'] }, ingress: [{ ports: [{ port: 22 }] }] };
    await harness.api('POST', '/api/v1/policies', { ...own, body: { name: 'no-ssh', spec } });
    await send.click();
    await page.getByText('The network or the plan has changed since.').waitFor();
    await page.getByRole('button', { name: 'Plan again' }).click();
    await page.getByText('The network or the plan has changed since.').waitFor({ state: 'detached' });
    await page.getByRole('article').or(page.getByRole('alert')).first().waitFor();
    await harness.api('DELETE', '/api/v1/policies/no-ssh', own);
    expect(dashboard.complaints).toEqual([]);
  });

  test('stages are told while a model works, which can be stopped', async () => {
    await using model = await scriptedModel(() => 'hang', { modes: ['tool'] });
    await using slow = await startHarness({ env: { MESH_LLM_BASE_URL: model.baseURL, MESH_LLM_MODEL: 'm' } });
    await webAndDatabase(slow);
    await ownPassword(slow);
    await using dashboard = await openDashboard(browser, slow);
    const { page } = dashboard;
    await dashboard.go(`prod/change?intent=${encodeURIComponent(LOOSE)}`);
    await dashboard.signIn('admin', PASSWORD);
    await page.getByRole('button', { name: 'Plan the change' }).click();
    const stages = page.getByRole('list', { name: 'Planning' });
    await stages.getByText('The sentence is read.').waitFor();
    await stages.getByText('a model is asked').waitFor();
    await expect.poll(() => model.open()).toBe(1);
    await page.getByRole('button', { name: 'Stop planning' }).click();
    await expect.poll(() => model.open()).toBe(0);
    await page.getByRole('button', { name: 'Stop planning' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });

  test('who may not plan is not offered it, and the past is not changed', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/change');
    await dashboard.signIn('vera', PASSWORD);
    await page.getByRole('heading', { name: 'Not shown to your role' }).waitFor();
    expect(await page.getByRole('link', { name: 'Change by intent' }).count()).toBe(0);

    await using other = await openDashboard(browser, harness);
    await other.go(`prod/change?intent=x&at=${new Date().toISOString()}`);
    await other.signIn('oskar', PASSWORD);
    await other.page.getByText('You look at the past').waitFor();
    expect(await other.page.getByRole('button', { name: 'Plan the change' }).isDisabled()).toBe(true);
  });
});
