import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { codeOf, enrolSecondFactor } from '../kits/http/second-factor.ts';
import { accessibilityFaults, hasBrowser, launchBrowser, openDashboard } from '../kits/web/dashboard.ts';

const OWN_PASSWORD = 'a password of my own 42';

/** A plane whose administrator has chosen a password, with a workspace. */
/** Of app.initAdmins, and not yet changed. */
const INITIAL_PASSWORD = 'given to the admin';

async function startPlane() {
  const harness = await startHarness();
  const { token } = await harness.workspace();
  const body = { oldPassword: ADMIN_PASSWORD, newPassword: OWN_PASSWORD };
  await harness.api('PUT', '/api/v1/users/me/password', { token, body });
  return harness;
}

describe.skipIf(!hasBrowser)('signing in on the dashboard', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  test('asks for a code where the account has a second factor, once the password was right', async () => {
    await using harness = await startPlane();
    const token = await harness.login('admin', OWN_PASSWORD);
    const { code, codeAt, recoveryCodes } = await enrolSecondFactor(harness, token, OWN_PASSWORD);
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    const field = page.getByLabel('Code of your second factor');
    await dashboard.signIn('admin', 'not the password');
    await page.getByRole('alert').filter({ hasText: 'Sign-in failed' }).waitFor();
    expect(await field.count()).toBe(0);

    await dashboard.signIn('admin', OWN_PASSWORD);
    await field.waitFor();
    expect(await field.evaluate('document.activeElement.name')).toBe('otp');
    expect(await accessibilityFaults(page)).toEqual([]);
    await field.fill(code);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await field.fill(codeAt(1));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Home' }).waitFor();

    await dashboard.signOut();
    await dashboard.signIn('admin', OWN_PASSWORD);
    await field.fill(recoveryCodes[0] ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('sets up a second factor before anything else where administrators must have one', async () => {
    const initAdmins = [{ username: 'admin', password: INITIAL_PASSWORD }];
    await using harness = await startHarness({
      config: { app: { initAdmins, signIn: { secondFactor: 'administrators' } } },
    });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.signIn('admin', INITIAL_PASSWORD);
    await page.getByLabel(/^New password/).fill(OWN_PASSWORD);
    await page.getByLabel('Repeat new password').fill(OWN_PASSWORD);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel('Your password').fill(OWN_PASSWORD);
    await page.getByRole('button', { name: 'Continue' }).click();
    const secret = (await page.locator('.enrol code').textContent()) ?? '';
    await page.getByLabel('Code of the app').fill(codeOf(secret));
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Recovery codes' }).waitFor();
    await page.getByRole('button', { name: 'I stored them' }).click();
    await page.getByRole('heading', { name: 'Setup' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('is over when the page is opened again, unless the browser was asked to keep it', async () => {
    await using harness = await startPlane();
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();

    await page.getByLabel('Stay signed in').check();
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    expect(await page.evaluate('document.cookie')).toBe('');
    const stored = await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])');
    expect(stored).toBe('[{},{"mesh-session-kept":"yes"}]');

    await dashboard.signOut();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('again, once a session has ended, keeps what was typed below', async () => {
    await using harness = await startPlane();
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page.getByRole('link', { name: 'Network', exact: true }).click();
    await page.getByLabel('Search peers').fill('db-1');
    const token = await harness.login('admin', OWN_PASSWORD);
    const body = { oldPassword: OWN_PASSWORD, newPassword: `${OWN_PASSWORD} again` };
    await harness.api('PUT', '/api/v1/users/me/password', { token, body });
    await page.getByRole('link', { name: 'Review' }).click();
    await page.getByText('Your session ended').waitFor();
    await dashboard.signIn('admin', `${OWN_PASSWORD} again`);
    await page.getByRole('heading', { name: 'Review' }).waitFor();
    await page.goBack();
    expect(await page.getByLabel('Search peers').inputValue()).toBe('db-1');
    expect(dashboard.complaints).toEqual([]);
  });

  test('is tried again where it stands when what a page needs could not be read', async () => {
    await using harness = await startPlane();
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await page.route('**/api/v1/users/me', (route) => route.abort(), { times: 1 });
    await dashboard.signIn('admin', OWN_PASSWORD);
    await page.getByRole('alert').filter({ hasText: 'The control plane does not answer' }).waitFor();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('again lasts, though what was asked in the session before is refused only then', async () => {
    await using harness = await startPlane();
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    const held = Promise.withResolvers<void>();
    const isList = ({ pathname, searchParams }: URL) => pathname === '/api/v1/peers' && !searchParams.has('phase');
    await page.route(
      isList,
      async (route) => {
        await held.promise;
        await route.continue();
      },
      { times: 1 },
    );
    await dashboard.signIn('admin', OWN_PASSWORD);
    const side = page.getByRole('navigation', { name: 'Pages' });
    await Promise.all([
      page.waitForRequest((request) => isList(new URL(request.url()))),
      side.getByText('Network').click(),
    ]);
    const token = await harness.login('admin', OWN_PASSWORD);
    const body = { oldPassword: OWN_PASSWORD, newPassword: `${OWN_PASSWORD} again` };
    await harness.api('PUT', '/api/v1/users/me/password', { token, body });
    await side.getByText('Review').click();
    await page.getByText('Your session ended').waitFor();
    await dashboard.signIn('admin', `${OWN_PASSWORD} again`);
    await page.getByRole('heading', { name: 'Review' }).waitFor();
    const refused = page.waitForResponse((response) => isList(new URL(response.url())) && response.status() === 401);
    held.resolve();
    await (await refused).finished();
    await side.getByText('Audit').click();
    await page.getByRole('heading', { name: 'Audit', exact: true }).waitFor();
    expect(await page.getByText('Your session ended').count()).toBe(0);
    expect(dashboard.complaints).toEqual([]);
  });
});
