import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const role = (value: string) => ({ peerSelector: { matchLabels: { role: value } } });

type Kit = Awaited<ReturnType<typeof buildWorkspaceKit>>;

async function tokenFor({ ask }: Pick<Kit, 'ask'>, value: string): Promise<string> {
  const made = { name: `for ${value}`, usageLimit: 1, labels: { role: value } };
  return (await ask('generate_join_token', made)).token;
}

async function shop() {
  const kit = await buildWorkspaceKit();
  for (const [name, value] of [
    ['web-1', 'web'],
    ['web-2', 'web'],
    ['db-1', 'db'],
  ] as const)
    await kit.join(name, { token: await tokenFor(kit, value) });
  await kit.ask('create_policy', { name: 'base', spec: { action: 'ALLOW', peerSelector: {}, ingress: [] } });
  const spec = {
    action: 'ALLOW',
    ...role('db'),
    ingress: [{ from: [role('web'), { ipBlock: { cidr: '203.0.113.0/24' } }], ports: [{ port: 5432 }] }],
  };
  await kit.ask('create_policy', { name: 'web-to-db', spec });
  return kit;
}

const postgres = [{ protocol: 'TCP', from: 5432, to: 5432 }];

test('a peer is told what it reaches and who reaches it, outside too, with the policies that let it through', async () => {
  await using kit = await shop();
  expect(await kit.ask('get_peer_access', { id: 'db-1' })).toMatchObject({
    once_let_in: false,
    reached_by: [
      {
        who: ['every other peer (2)'],
        count: 2,
        outside: ['203.0.113.0/24'],
        allowed: postgres,
        policies: ['web-to-db'],
      },
    ],
    omitted: 0,
  });
  expect(await kit.ask('get_peer_access', { id: 'web-1' })).toMatchObject({
    reaches: expect.arrayContaining([
      { who: ['db-1'], count: 1, outside: [], allowed: postgres, policies: ['web-to-db'] },
    ]),
    reached_by: [],
  });
});

test('the access of a peer is told as it was at an instant, also where the peer is gone now', async () => {
  await using kit = await shop();
  const id = (await kit.ask('get_peer', { id: 'db-1' })).id;
  kit.clock.time += 1_000;
  const at = new Date(kit.clock.time).toISOString();
  kit.clock.time += 1_000;
  await kit.ask('delete_policy', { id: 'web-to-db' });
  expect(await kit.ask('get_peer_access', { id: 'db-1' })).toMatchObject({ reached_by: [] });
  const then = { once_let_in: false, reached_by: [{ who: ['every other peer (2)'], policies: ['web-to-db'] }] };
  expect(await kit.ask('get_peer_access', { id, at })).toMatchObject(then);
  await kit.ask('delete_peer', { id: 'db-1' });
  expect(await kit.ask('get_peer_access', { id: 'db-1', at })).toMatchObject(then);
  const readsNow = kit.holding('network:read')('get_peer_access', { id: 'web-1', at });
  expect(await refusalOf(readsNow)).toBe('forbidden snapshots:read');
});

test('all addresses outside are told in one word, apart from peers', async () => {
  await using kit = await shop();
  const access = (name: string) => kit.ask('get_peer_access', { id: name });
  const anywhere = {
    from: [{ ipBlock: { cidr: '0.0.0.0/0' } }, { ipBlock: { cidr: '::/0' } }],
    ports: [{ port: 443 }],
  };
  await kit.ask('create_policy', { name: 'open', spec: { action: 'ALLOW', ...role('web'), ingress: [anywhere] } });
  const { reached_by: reachedBy } = await access('web-1');
  expect(reachedBy).toEqual([
    expect.objectContaining({ who: ['every other peer (2)'], count: 2, outside: ['outside'], policies: ['open'] }),
  ]);
  const { reaches } = await access('db-1');
  expect(reaches.filter(({ outside }: { readonly outside: readonly string[] }) => outside.length > 0)).toEqual([
    expect.objectContaining({ outside: ['outside'], allowed: 'ALL' }),
  ]);
});

test('a device that is not let in is told what it would be, and by whose token it came, and nothing is written', async () => {
  await using kit = await shop();
  await kit.ask('update_workspace', { settings: { requirePeerApproval: true } });
  await kit.join('web-3', { token: await tokenFor(kit, 'web') });
  const access = await kit.ask('get_peer_access', { id: 'web-3' });
  expect(access).toMatchObject({
    once_let_in: true,
    reaches: expect.arrayContaining([
      { who: ['db-1'], count: 1, outside: [], allowed: postgres, policies: ['web-to-db'] },
    ]),
    reached_by: [],
    joined: { token: 'for web', token_by: 'user:admin', workload: null },
  });
  expect((await kit.ask('get_peer', { id: 'web-3' })).status).toMatchObject({ phase: 'pending', address: null });
  await kit.ask('approve_peer', { id: 'web-3' });
  expect(await kit.ask('get_peer_access', { id: 'web-3' })).toEqual({ ...access, once_let_in: false });
});

test('a peer of another workspace is unknown, and network:read is needed', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.join('web-1');
  expect(await refusalOf(kit.foreign('get_peer_access', { id }))).toBe('not_found');
  expect(await refusalOf(kit.holding()('get_peer_access', { id }))).toBe('forbidden network:read');
});
