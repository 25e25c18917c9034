import { expect, test } from 'vitest';
import { askToSignIn } from '../../test/kits/plane/command-line.ts';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const MINUTE_MS = 60_000;
const OTHER = 'A'.repeat(43);

test('a sign-in by a browser needs the key that the browser hands over on the loopback', async () => {
  await using kit = await buildPeopleKit();
  const { id, begun, state, finish } = await askToSignIn(kit, { listens: true });
  expect(begun.page).toBe(`http://127.0.0.1:18090/#/~/allow/${id}`);
  expect(begun.userCode).toBeUndefined();
  expect(await kit.ada('get_client_request', { id })).toMatchObject({ commandLine: { isElsewhere: false } });
  const { url } = await kit.ada('allow_command_line', { id });
  const { origin, pathname, searchParams } = new URL(url);
  expect([origin, pathname, searchParams.get('state')]).toEqual(['http://127.0.0.1:4321', '/', state]);
  expect(await refusalOf(finish())).toBe('expired');
  expect(await refusalOf(finish({ key: 'another' }))).toBe('expired');
  const { session } = await finish({ key: searchParams.get('key') ?? '' });
  expect(await kit.askWith(session.token)('get_me')).toMatchObject({ username: 'ada' });
});

test('a sign-in counts once, for who has its verifier, and for ten minutes', async () => {
  await using kit = await buildPeopleKit();
  const { id, finish } = await askToSignIn(kit);
  await kit.ada('allow_command_line', { id });
  expect(await refusalOf(finish({ verifier: OTHER }))).toBe('expired');
  const both = await Promise.allSettled([finish(), finish()]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(await refusalOf(finish())).toBe('expired');

  for (const isAllowed of [true, false]) {
    const late = await askToSignIn(kit);
    if (isAllowed) await kit.ada('allow_command_line', { id: late.id });
    kit.clock.time += 10 * MINUTE_MS;
    expect(await refusalOf(late.finish())).toBe('expired');
    expect(await refusalOf(kit.ada('allow_command_line', { id: late.id }))).toBe('not_found');
  }
});
