import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a person ends a session of theirs, which is refused from then on, and it is told in the log', async () => {
  await using kit = await buildPeopleKit();
  const lost = kit.askWith(await kit.sessionOf('ada'));
  const { items } = await lost('list_sessions');
  const { id } = items.find(({ current }: { current: boolean }) => current);
  expect(await kit.ada('end_session', { id })).toEqual({ ended: true });
  expect(await refusalOf(lost('get_me'))).toBe('unauthenticated');
  expect(await kit.ada('get_me')).toMatchObject({ username: 'ada' });
  expect((await kit.events()).at(-1)).toMatchObject({
    type: 'session.ended',
    actor: 'user:ada',
    detail: { session: id },
  });
});

test('a session of somebody else, and one that there is not, are refused alike', async () => {
  await using kit = await buildPeopleKit();
  const [{ id }] = (await kit.vic('list_sessions')).items;
  expect(await refusalOf(kit.ada('end_session', { id }))).toBe('not_found');
  expect(await refusalOf(kit.ada('end_session', { id: 'ses_nobody' }))).toBe('not_found');
  expect(await kit.vic('get_me')).toMatchObject({ username: 'vic' });
});

test('an API token ends no session', async () => {
  await using kit = await buildPeopleKit();
  const [{ id }] = (await kit.ada('list_sessions')).items;
  const { token } = await kit.ada('create_api_token', { name: 'ci' });
  expect(await refusalOf(kit.askWith(token)('end_session', { id }))).toMatch(/^forbidden/);
});
