import { expect, test } from 'vitest';
import { addressIn, withoutAddress } from '../../core/model/token.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a device that joins with a token has its labels, and a link holds the token', async () => {
  await using kit = await buildWorkspaceKit();
  const made = await kit.ask('generate_join_token', { name: 'web', labels: { role: 'web' }, usageLimit: 1 });
  expect(made).toMatchObject({ name: 'web', usageLimit: 1, usedCount: 0, network: 'default', createdBy: 'user:admin' });
  expect(new URL(made.joinLink).searchParams.get('token')).toBe(made.token);
  await kit.join('web-1', { token: made.token });
  expect(await kit.ask('get_peer', { id: 'web-1' })).toMatchObject({ labels: { role: 'web' } });
});

test('a token carries the first address of app.publicUrls that others reach, its join link the plain token', async () => {
  const publicUrls = ['http://127.0.0.1:18090', 'https://mesh.example.com/path', 'http://10.0.0.5:18090'];
  await using kit = await buildWorkspaceKit({ publicUrls });
  const { token, joinLink, notice } = await kit.ask('generate_join_token', { name: 'web' });
  const plain = withoutAddress(token);
  expect([addressIn(token), addressIn(plain), notice]).toEqual(['https://mesh.example.com', null, undefined]);
  expect(joinLink).toBe(`mesh://join?${new URLSearchParams({ server: 'https://mesh.example.com', token: plain })}`);
  await kit.join('as-it-is', { token });
  await kit.join('plain', { token: plain });
  const { items } = await kit.ask('list_join_tokens');
  expect(items.map(({ usedCount }: { usedCount: number }) => usedCount)).toEqual([2]);
});

test('a token is plain when asked for, and where the control plane knows no address that others reach, which a notice says', async () => {
  await using kit = await buildWorkspaceKit({ publicUrls: ['https://mesh.example.com'] });
  const asked = await kit.ask('generate_join_token', { name: 'web', includeAddress: false });
  expect(addressIn(asked.token)).toBeNull();
  await using local = await buildWorkspaceKit({ publicUrls: ['http://localhost:18090'] });
  const made = await local.ask('generate_join_token', { name: 'web' });
  expect([addressIn(made.token), made.notice]).toEqual([null, expect.stringContaining('set app.publicUrls')]);
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
