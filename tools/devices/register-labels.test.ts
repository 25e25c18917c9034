import { expect, test } from 'vitest';
import { freshKey, joinToken } from '../../test/kits/plane/devices.ts';
import { buildKit, type Kit, person } from '../../test/kits/plane/kit.ts';

async function asking(tokenFields: Record<string, unknown>, fields: Record<string, unknown>) {
  const kit = await buildKit();
  const workspace = await kit.workspace();
  const bearer = await joinToken(kit, workspace, tokenFields);
  const device = { name: 'web', publicKey: freshKey().publicKey, ...fields };
  const answer = kit.call('register_device', device, { bearer });
  return { kit, workspace, answer, bearer, device };
}

const peerOf = (kit: Kit, workspace: string, id = 'web') =>
  kit.call('get_peer', { id }, { as: person('viewer', workspace), workspace });

test.each([
  [['role=web'], { role: 'web' }],
  [['zone', 'role=web'], { zone: 'eu', role: 'web' }],
  [[], { env: 'prod' }],
])(
  'a device has the labels that a token which grants %j lets it ask for, beside those of the token',
  async (deviceLabels, labels) => {
    const { kit, workspace, answer } = await asking({ labels: { env: 'prod' }, deviceLabels }, { labels });
    await using _kit = kit;
    await answer;
    expect((await peerOf(kit, workspace)).labels).toEqual({ env: 'prod', ...labels });
  },
);

test.each([
  ['another value', { role: 'db' }],
  ['another key', { zone: 'eu' }],
  ['another value than the token gives', { env: 'dev' }],
  ['a key that begins with a granted one', { 'role-x': 'web' }],
])('%s is denied, with what the token grants, and spends no use', async (_what, labels) => {
  const { kit, answer, bearer, device } = await asking(
    { labels: { env: 'prod' }, deviceLabels: ['role=web'], usageLimit: 1 },
    { labels },
  );
  await using _kit = kit;
  await expect(answer).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('it grants env=prod, role=web'),
  });
  const { labels: _, ...without } = device as typeof device & { labels: unknown };
  await kit.call('register_device', without, { bearer });
});

test('a token that names no labels for devices grants none', async () => {
  const { kit, answer } = await asking({}, { labels: { role: 'web' } });
  await using _kit = kit;
  await expect(answer).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('it grants no labels'),
  });
});

test.each(['a b', 'role=', '=web', 'mesh.internal/agent=x'])('a token cannot grant %s', async (label) => {
  await using kit = await buildKit();
  await expect(joinToken(kit, await kit.workspace(), { deviceLabels: [label] })).rejects.toMatchObject({
    code: 'invalid_input',
  });
});

test('a token says what it grants when it is listed', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  await joinToken(kit, workspace, { deviceLabels: ['role=web'], ephemeral: true });
  const { items } = await kit.call('list_join_tokens', {}, { as: person('admin', workspace), workspace });
  expect(items).toMatchObject([{ deviceLabels: ['role=web'], ephemeral: true }]);
});
