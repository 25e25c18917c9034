import { test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { fixtureOf } from '../releases/fixture.ts';
function diff(a: any, b: any, p: string, out: string[]) {
  if (a !== null && typeof a === 'object' && b !== null && typeof b === 'object') {
    for (const k of Object.keys(a)) diff(a[k], b[k], `${p}/${k}`, out);
    if (Array.isArray(a) && a.length !== b.length) out.push(`${p} length ${a.length} ${b.length}`);
  } else if (a !== b) out.push(`${p}: ${JSON.stringify(a)?.slice(0,150)} => ${JSON.stringify(b)?.slice(0,150)}`);
}
test('x', async () => {
  const { directory, at, workspace, answers } = fixtureOf('0.1.0');
  const now = Date.parse(at);
  await using harness = await startHarness({ directory, clock: { now: () => now } });
  const token = await harness.login();
  const all = new Map<string, string[]>();
  for (const [route, before] of Object.entries(answers)) { if (route.includes('/audit')) continue;
    const { status, body } = await harness.api('GET', route, { token, workspace });
    if (status !== 200) { console.log(route, status, harness.log.filter((l) => l.includes('"error"')).slice(-3)); continue; }
    const out: string[] = []; diff(before, body, '', out);
    for (const line of out) { const k = route.replace(/\?.*/, '').replace(/(snap|wf|w)_\w{26}/g, '$1') + ' ' + line; all.set(k, [...(all.get(k) ?? []), route]); }
  }
  for (const [k, routes] of all) console.log(routes.length, k);
});
