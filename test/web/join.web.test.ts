import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { enrol, freshKey, proofOf } from '../kits/plane/devices.ts';
import { workloadIssuer } from '../kits/plane/workloads.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';
import { member, ownPassword, PASSWORD } from '../kits/web/page-people.ts';
import { tabTo } from '../kits/web/tab-to.ts';

const HOSTILE = '<img src=x onerror="alert(1)">';

describe.skipIf(!hasBrowser)('adding a device on the dashboard', () => {
  let browser: Browser;
  let harness: Harness;
  let own: { token: string; workspace: string };
  beforeAll(async () => {
    [browser, harness] = await Promise.all([launchBrowser(), startHarness()]);
    const { workspace } = await harness.workspace();
    own = { workspace, token: await ownPassword(harness) };
    await member(harness, own, 'vera', 'viewer');
    const settings = { settings: { requirePeerApproval: true } };
    await harness.api('PATCH', `/api/v1/workspaces/${workspace}`, { ...own, body: settings });
  });
  afterAll(async () => {
    await browser.close();
    await harness[Symbol.asyncDispose]();
  });

  test('a token is shown once with its code and commands, the device that joins appears and is approved beside it', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/join');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByLabel('Name of the token').fill(HOSTILE);
    expect(await page.getByText(/scan/i).count()).toBe(0);
    await page.getByLabel('Labels of the devices').fill('role=laptop');
    await page.getByRole('button', { name: 'Create join token' }).click();
    const invitation = page.getByRole('region', { name: `Join token ${HOSTILE}` });
    await invitation.getByText('Adds 1 device, ends').waitFor();
    // Nobody else reaches the address that the page was opened under.
    await invitation.getByText('Other devices cannot reach this address.').waitFor();
    expect(await invitation.getByRole('img', { name: /^QR code/ }).count()).toBe(0);
    await invitation.getByRole('button', { name: 'iPhone, iPad' }).click();
    await invitation.getByText('a QR code for it appears then').waitFor();
    await invitation.getByLabel('Address of the control plane').fill('https://plane.example.net');
    await invitation.getByRole('img', { name: /^QR code/ }).waitFor();
    await invitation.getByText('Scan the QR code').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const link = (await invitation.getByRole('figure', { name: 'Join link' }).locator('pre').textContent()) ?? '';
    const token = new URL(link).searchParams.get('token') ?? '';
    expect(token).toMatch(/^mesh-join-/);
    await invitation.getByRole('button', { name: 'macOS' }).click();
    const commands = invitation.getByRole('figure', { name: 'Run on the device' });
    await commands.getByText('brew install wireguard-go').waitFor();
    await commands.getByRole('button', { name: 'Copy' }).click();
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await expect.poll(copied).toContain(`sudo mesh init '${link}'`);
    await commands.getByText('plane.example.net').waitFor();

    await enrol(harness, token, 'ada-laptop');
    await invitation.getByRole('link', { name: 'ada-laptop' }).waitFor();
    await page.getByRole('cell', { name: '0 of 1' }).waitFor();
    await page.getByRole('cell', { name: 'ada-laptop' }).getByRole('link', { name: 'ada-laptop' }).waitFor();
    await invitation.getByRole('button', { name: 'Approve ada-laptop' }).click();
    await page.getByRole('status').filter({ hasText: 'ada-laptop is approved.' }).waitFor();
    await invitation.getByRole('button', { name: 'Approve ada-laptop' }).waitFor({ state: 'detached' });

    const kept = await page.evaluate(
      'JSON.stringify([location.href, sessionStorage, localStorage, document.cookie, history.state])',
    );
    expect(kept).not.toContain('mesh-join');
    await dashboard.go('prod/peers');
    await page.getByRole('heading', { name: 'Peers' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Create join token' }).waitFor();
    expect(await page.locator('body').textContent()).not.toContain(token);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a token for jobs asks for their claims, and shows what a job runs', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/join');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByLabel('Name of the token').fill('ci');
    await page.getByLabel('Who may use it').selectOption('Jobs of GitHub Actions');
    await page.getByLabel('Claims that have to match').fill('repository=octo-org/octo-repo ref=refs/heads/main');
    await page.getByRole('button', { name: 'Create join token' }).click();
    await page.getByText('names can pass to another owner').waitFor();
    await page.getByLabel('Claims that have to match').fill('repository_id=74 ref=refs/heads/main');
    await page.getByRole('button', { name: 'Create join token' }).click();
    const invitation = page.getByRole('region', { name: 'Join token ci' });
    await invitation.getByText(/mesh init --token mesh-join-\S+ --identity github/).waitFor();
    expect(await invitation.getByRole('img', { name: /^QR code/ }).count()).toBe(0);
    await invitation.getByText('id-token: write').waitFor();
    const place = 'repository_id=74 ref=refs/heads/main of token.actions.githubusercontent.com';
    await page.getByRole('region', { name: 'Rules for workloads' }).getByRole('cell', { name: place }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('a rule for pods is made by their service account, with a preset; what cannot be read is told at its field', async () => {
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/join');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByLabel('Who may use it').selectOption('Pods of Kubernetes');
    await page.getByLabel('Name of the token').fill('builders');
    await page.getByRole('textbox', { name: 'Issuer' }).fill('https://cluster.example.net');
    await page.getByLabel('Namespace').fill('ci');
    await page.getByLabel('Service account').fill('builder');
    const way = page.getByLabel('Tokens are verified by');
    expect(await way.inputValue()).toBe('tokenReview');
    const create = page.getByRole('button', { name: 'Create join token' });
    const fault = async (label: string, text: string) => {
      await create.click();
      await page.getByText(text).waitFor();
      await page.getByRole('alert').getByText('Correct the marked fields.').waitFor();
      expect(await page.getByRole('textbox', { name: label }).getAttribute('aria-invalid')).toBe('true');
    };
    await page.getByRole('textbox', { name: 'Cluster' }).fill('staging');
    await fault('Cluster', 'There is no cluster staging in app.kubernetes');
    await way.selectOption('Published keys, own CA');
    await page.getByRole('textbox', { name: 'Certificate authority' }).fill('no certificate');
    await create.click();
    await page.getByRole('alert').getByText('Correct the marked fields.').waitFor();
    await way.selectOption('Keys entered here');
    await page.getByRole('textbox', { name: 'Public keys' }).fill('none');
    await fault('Public keys', 'Paste the JSON that the issuer publishes');
    await way.selectOption('Published keys');
    await page.getByLabel('Preset').selectOption('sandboxed');
    await page.getByLabel('May reach').fill('role=web http');
    await fault('May reach', 'This is no line of a reach: role=web http.');
    await page.getByLabel('May reach').fill('role=web TCP 443');
    await page.getByLabel('Workloads last').fill('2h');
    await page.getByLabel('Join without approval').check();
    expect(await accessibilityFaults(page)).toEqual([]);
    await create.click();
    const invitation = page.getByRole('region', { name: 'Join token builders' });
    await invitation.getByText('serviceAccountName: builder').waitFor();
    await invitation.getByText(/mesh init --token mesh-join-\S+ --identity kubernetes/).waitFor();
    const { items } = (await harness.api('GET', '/api/v1/tokens', own)).body;
    expect(items.find(({ name }: { name: string }) => name === 'builders')).toMatchObject({
      identity: { issuer: 'https://cluster.example.net', claims: { sub: 'system:serviceaccount:ci:builder' } },
      ...{ preset: 'sandboxed', deviceTtl: '2h', admits: true, usageLimit: 10_000 },
      egress: [
        {
          to: [{ peerSelector: { matchLabels: { role: 'web' } } }],
          ports: [{ protocol: 'TCP', port: 443 }],
        },
      ],
    });
    expect(dashboard.complaints).toEqual([]);
  });

  test('rules for workloads have a list of their own, those of files too, with their preset and a token to copy', async () => {
    const manifest = JSON.stringify({
      apiVersion: 'mesh.internal/v1alpha1',
      kind: 'WorkloadRule',
      metadata: { name: 'scanners' },
      spec: {
        identity: { issuer: 'https://cluster.example.net', claims: { sub: 'system:serviceaccount:sec:*' } },
        preset: 'isolated',
      },
    });
    expect((await harness.api('POST', '/api/v1/apply', { ...own, body: { manifest } })).status).toBe(200);
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/join');
    await dashboard.signIn('admin', PASSWORD);
    const rules = page.getByRole('region', { name: 'Rules for workloads' });
    const row = rules.getByRole('row', { name: 'scanners' });
    await row.getByRole('cell', { name: 'service account sec/* of cluster.example.net' }).waitFor();
    await row.getByRole('cell', { name: 'isolated' }).waitFor();
    await row.getByRole('cell', { name: 'Never' }).waitFor();
    expect(await page.getByRole('region', { name: 'Join tokens' }).getByText('scanners').count()).toBe(0);
    await row.getByRole('button', { name: 'Copy token' }).click();
    await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toContain('mesh-join-');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('policies that hold workloads to a preset are named by their rule and are not changed', async () => {
    const { services } = harness.plane;
    const issuer = await workloadIssuer('https://jobs.example.net', { now: Date.now, audience: harness.url });
    const identity = { issuer: 'https://jobs.example.net', claims: { sub: 'nightly' }, keys: await issuer.keys() };
    const rule = { name: 'nightly-jobs', identity, preset: 'sandboxed' };
    const { token } = (await harness.api('POST', '/api/v1/token/generate', { ...own, body: rule })).body;
    const key = freshKey();
    const proof = proofOf(key, token, services.keys.controlKey);
    const jwt = await issuer.token({ sub: 'nightly' });
    await enrol(harness, token, 'job-1', { publicKey: key.publicKey, proof, identity: jwt });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/policies');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByText('Made for workloads (2)').click();
    await page.getByRole('link', { name: 'nightly-jobs · sandboxed' }).first().click();
    await page.getByRole('heading', { name: 'nightly-jobs · sandboxed' }).waitFor();
    await page.getByText('the control plane, to hold workloads to a preset').waitFor();
    await page.getByRole('textbox', { name: 'YAML' }).waitFor();
    expect(await page.getByRole('button', { name: /^(Save|Delete)/ }).count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });

  test('with the keyboard alone a token is made, and one is revoked', async () => {
    const body = { name: 'old-laptops', expiry: '24h', usageLimit: 3 };
    await harness.api('POST', '/api/v1/token/generate', { ...own, body });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/join');
    await dashboard.signIn('admin', PASSWORD);
    const make = page.getByRole('button', { name: 'Create join token' });
    await tabTo(page, page.getByLabel('Maximum uses'));
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('2');
    await tabTo(page, make);
    await page.keyboard.press('Enter');
    await page.getByText('Adds 2 devices, ends').waitFor();
    await tabTo(page, page.getByRole('button', { name: 'Revoke the token old-laptops' }));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await tabTo(page, dialog.getByRole('button', { name: 'Revoke' }));
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'old-laptops', exact: true }).waitFor({ state: 'detached' });
    expect(dashboard.complaints).toEqual([]);
  });

  test('a token that needs a second person leads to Review; a viewer is not offered the page', async () => {
    await harness.api('PATCH', `/api/v1/workspaces/${own.workspace}`, {
      ...own,
      body: { settings: { requireApproval: true } },
    });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.go('prod/join');
    await dashboard.signIn('admin', PASSWORD);
    await page.getByLabel('Labels of the devices').fill('role=db');
    await page.getByRole('button', { name: 'Create join token' }).click();
    await page.getByRole('link', { name: 'Open it in Review' }).click();
    await page.getByRole('article').getByText('generate_join_token').waitFor();

    await using other = await openDashboard(browser, harness);
    await other.go('prod/join');
    await other.signIn('vera', PASSWORD);
    await other.page.getByRole('heading', { name: 'Not shown to your role' }).waitFor();
    expect(await other.page.getByRole('link', { name: 'Add a device' }).count()).toBe(0);
    expect([...dashboard.complaints, ...other.complaints]).toEqual([]);
  });
});
