import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a device that joins with a token has its labels, and a link holds the token', async () => {
  await using kit = await buildWorkspaceKit();
  const made = await kit.ask('generate_join_token', { name: 'web', labels: { role: 'web' }, usageLimit: 1 });
  expect(made).toMatchObject({ name: 'web', usageLimit: 1, usedCount: 0, network: 'default', createdBy: 'user:admin' });
  expect(new URL(made.joinLink).searchParams.get('token')).toBe(made.token);
  await kit.join('web-1', { token: made.token });
  expect(await kit.ask('get_peer', { id: 'web-1' })).toMatchObject({ labels: { role: 'web' } });
});

test('a join token needs a name, a network that there is, a duration that is one, and a maker with tokens:write', async () => {
  await using kit = await buildWorkspaceKit();
  expect(await refusalOf(kit.ask('generate_join_token', {}))).toBe('invalid_input /name');
  expect(await refusalOf(kit.ask('generate_join_token', { name: 'web', network: 'lab' }))).toBe(
    'invalid_input /network',
  );
  expect(await refusalOf(kit.ask('generate_join_token', { name: 'web', expiry: 'soon' }))).toBe(
    'invalid_input /expiry',
  );
  expect(await refusalOf(kit.as('viewer')('generate_join_token', { name: 'web' }))).toBe('forbidden tokens:write');
});
