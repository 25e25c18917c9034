import { expect, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { fixtureOf, releases } from '../releases/fixture.ts';

test.each(releases())('a store of %s is taken over, and what is answered of its network now and in the past is what that release answered', async (version) => {
  const { directory, at, workspace, answers } = fixtureOf(version);
  const now = Date.parse(at);
  await using harness = await startHarness({ directory, clock: { now: () => now } });
  const token = await harness.login();
  const wrong: unknown[] = [];
  for (const [route, before] of Object.entries(answers)) {
    const { status, body } = await harness.api('GET', route, { token, workspace });
    if (status !== 200) wrong.push([route, status, body]);
    else try { expect(body).toMatchObject(before as object); } catch (error) { wrong.push(route, (error as Error).message); }
  }
  console.log(wrong.map((w) => typeof w === 'string' ? w : JSON.stringify(w)).join('\n').slice(0, 15000));
  expect(Object.keys(answers).length).toBeGreaterThan(50);
});
