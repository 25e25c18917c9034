import { expect, test } from 'vitest';
import { HOSTILE_WORDS, PLAIN_WORDS } from '../kits/web/network-words.ts';
import { NOW, seededNetwork } from '../kits/web/seeded-network.ts';
import { addressesOf } from '../kits/web/page-addresses.ts';
import { walk } from '../kits/web/walk.ts';
import { launchBrowser, openDashboard, accessibilityFaults } from '../kits/web/dashboard.ts';
import { PASSWORD } from '../kits/web/page-people.ts';
test('walk', async () => {
  await using n = await seededNetwork(HOSTILE_WORDS);
  const browser = await launchBrowser();
  try {
  const dashboard = await openDashboard(browser, n);
  const { page } = dashboard;
  page.setDefaultTimeout(4000);
  await page.clock.setFixedTime(NOW);
  await page.route('**/api/v1/**', async (route) => {
    const r = route.request();
    const p = new URL(r.url()).pathname;
    if (r.method() === 'GET' || /login|preview|intent\/plan$|check|explain|connectivity/.test(p)) return route.continue();
    console.log('   WRITE', r.method(), p);
    await route.fulfill({ status: 409, contentType: 'application/problem+json', body: JSON.stringify({ type: 'x', title: 'Not here', status: 409, code: 'conflict', detail: 'Not carried out.', requestId: 'r_1' }) });
  });
  page.on('response', (r) => { if ([401,403].includes(r.status())) console.log('REFUSED', r.url()); });
  await dashboard.signIn('admin', PASSWORD);
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  let t = Date.now();
  for await (const seen of walk(dashboard, Object.values(addressesOf(n)).flat())) {
    const w = Date.now() - t; t = Date.now();
    const f = process.env.AXE ? await accessibilityFaults(page) : [];
    console.log(w, Date.now() - t, seen.address.slice(0, 60), '|', seen.by?.slice(0, 50) ?? '', f.join(' ; ').slice(0, 300)); t = Date.now();
    const bad = await page.evaluate("[globalThis.ran, document.querySelectorAll('img, [onload], [onerror], a[href^=javascript]').length, document.documentElement.scrollWidth - innerWidth]") as any[];
    if (bad[0] || bad[1] || bad[2] > 0) console.log('BAD', JSON.stringify(bad));
    if (dashboard.complaints.length) console.log('COMPLAINT', dashboard.complaints.splice(0));
  }
  } finally { await browser.close(); }
}, 600_000);
