import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, FIRST_ADMIN, startHarness } from '../kits/http/harness.ts';
import { CLIENT, startTestIssuer } from '../kits/http/test-issuer.ts';
import {
  accessibilityFaults,
  type Dashboard,
  hasBrowser,
  launchBrowser,
  openDashboard,
} from '../kits/web/dashboard.ts';

const ADA = { sub: 's1', email: 'ada@example.com', name: 'Ada', groups: ['operators'] };
const GRANT = { claim: 'groups', value: 'operators', workspace: 'prod', role: 'operator' };

async function startPlane(issuer: string, signIn: object = {}) {
  const oidc = [{ ...CLIENT, name: 'corp', title: 'Example Corp', issuer, grants: [GRANT] }];
  const harness = await startHarness({ config: { app: { initAdmins: [FIRST_ADMIN], signIn, oidc } } });
  return harness;
}

describe.skipIf(!hasBrowser)('signing in by an issuer on the dashboard', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  const button = ({ page }: Dashboard) => page.getByRole('button', { name: 'Sign in with Example Corp' });

  test('leads to the page that was asked for, keeps nothing in the address, and signs out of the issuer too', async () => {
    await using issuer = await startTestIssuer();
    await using harness = await startPlane(issuer.url);
    await harness.workspace('prod');
    issuer.signsIn(ADA);
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await button(dashboard).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await dashboard.go('prod/review');
    await button(dashboard).click();
    await page.getByRole('heading', { name: 'Review' }).waitFor();
    expect(page.url()).toBe(`${harness.url}/#/prod/review`);
    const stored = await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])');
    expect(stored).toBe('[{},{}]');
    expect(await page.context().cookies()).toEqual([]);

    await dashboard.signOut();
    await button(dashboard).waitFor();
    expect(issuer.asked.some((path) => path.startsWith('/end?'))).toBe(true);
    const others = dashboard.complaints.filter((complaint) => !complaint.startsWith(`asked ${issuer.url}/`));
    expect(others).toEqual([]);
  });

  test('leaves out passwords and codes of this installation, and People says who signs in so and whose claims gave what', async () => {
    await using issuer = await startTestIssuer();
    await using harness = await startPlane(issuer.url);
    await harness.workspace('prod');
    issuer.signsIn(ADA);
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    const { host } = new URL(issuer.url);
    await button(dashboard).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await dashboard.go('prod/settings/account');
    await page.getByText(`Signed in by ${host}; it has no password here.`).waitFor();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect(await page.getByText(/second factor|change password/i).count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);

    await using other = await openDashboard(browser, harness);
    await other.go('prod/settings/people/ada@example.com');
    await other.signIn('admin', ADMIN_PASSWORD);
    await other.page
      .getByRole('row')
      .filter({ hasText: `operator by claims of ${host}` })
      .waitFor();
    await other.page.getByRole('row').filter({ hasText: 'admin' }).filter({ hasText: 'password' }).first().waitFor();
    const details = other.page.getByRole('article', { name: 'ada@example.com' });
    await details.getByText(host).waitFor();
    expect(await details.getByText('Set an initial password').count()).toBe(0);
    expect(await accessibilityFaults(other.page)).toEqual([]);
  });

  test('keeps the session in this browser where that was asked for', async () => {
    await using issuer = await startTestIssuer();
    await using harness = await startPlane(issuer.url);
    await harness.workspace('prod');
    issuer.signsIn(ADA);
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await page.getByLabel('Stay signed in').check();
    await button(dashboard).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
  });

  test('says on the same page why nobody was signed in', async () => {
    await using issuer = await startTestIssuer();
    await using harness = await startPlane(issuer.url);
    issuer.signsIn({ ...ADA, email_verified: false });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await button(dashboard).click();
    await page.getByRole('alert').filter({ hasText: 'Example Corp has not verified the address' }).waitFor();
    expect(page.url()).toBe(`${harness.url}/`);
    await page.goto(`${harness.url}/sign-in/corp?code=c&state=s`);
    await page.getByRole('alert').filter({ hasText: 'did not begin in this browser' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test('says that an issuer is away, and passwords go on', async () => {
    await using issuer = await startTestIssuer();
    await using harness = await startPlane(issuer.url);
    issuer.misbehavior.instead = { '/.well-known/openid-configuration': (response) => response.destroy() };
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await button(dashboard).click();
    await page.getByRole('alert').filter({ hasText: 'Example Corp cannot be reached' }).waitFor();
    await page.getByLabel('User name').waitFor();
  });

  test('comes first where passwords are off but for one account', async () => {
    await using issuer = await startTestIssuer();
    await using harness = await startPlane(issuer.url, { onlyLocalAccount: 'admin' });
    await using dashboard = await openDashboard(browser, harness);
    const { page } = dashboard;
    await button(dashboard).waitFor();
    expect(await page.getByLabel('User name').isVisible()).toBe(false);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByText('Sign in with a password').click();
    await page.getByLabel('User name').waitFor();
  });
});
