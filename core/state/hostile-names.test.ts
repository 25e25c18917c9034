import { expect, test } from 'vitest';
import { freshKey, joinToken } from '../../test/kits/plane/devices.ts';
import { buildKit, person } from '../../test/kits/plane/kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

/** A database that joined, and a device that joins beside it and says of itself what it likes. */
async function scene() {
  const kit = await buildKit();
  const workspace = await kit.workspace();
  const bearer = await joinToken(kit, workspace, { usageLimit: 9 });
  const join = (fields: Readonly<Record<string, unknown>>) =>
    kit.call('register_device', { publicKey: freshKey().publicKey, ...fields }, { bearer });
  const as = person('admin', workspace);
  const ask = (operation: string, input: Record<string, unknown>) => kit.call(operation, input, { as, workspace });
  const db = await join({ name: 'db-1' });
  return { ...kit, join, ask, db, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

test('no device joins or is renamed under the address of another, and the address goes on to mean who has it', async () => {
  await using kit = await scene();
  const { address, id } = kit.db;
  expect(await refusalOf(kit.join({ name: address }))).toBe('invalid_input /name');
  const evil = await kit.join({ name: 'evil-1' });
  const rename = kit.call('rename_own_device', { name: address }, { bearer: String(evil.deviceToken) });
  expect(await refusalOf(rename)).toBe('invalid_input /name');
  expect(await refusalOf(kit.ask('update_peer', { id: 'evil-1', name: address }))).toBe('invalid_input /name');
  expect(await kit.ask('get_peer', { id: String(address) })).toMatchObject({ id, name: 'db-1' });
});

test('no agent is made whose peer would read as what is outside', async () => {
  await using kit = await scene();
  expect(await refusalOf(kit.ask('create_agent', { name: 'outside' }))).toBe('invalid_input /name');
  expect(await refusalOf(kit.ask('create_agent', { name: '10.96.0.1' }))).toBe('invalid_input /name');
});

test.each(['outside', 'internet', '203.0.113.9'])(
  'a device with the host name %s does not answer in the place of what is outside',
  async (hostname) => {
    await using kit = await scene();
    await kit.join({ name: 'evil-1', hostname });
    const { note } = await kit.ask('check_connectivity', { src: hostname, dst: 'db-1' });
    expect(note).toContain('address outside');
  },
);
