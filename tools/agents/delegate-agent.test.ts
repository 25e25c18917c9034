import { expect, test } from 'vitest';
import { addressIn, withoutAddress } from '../../core/model/token.ts';
import { enrol } from '../../test/kits/plane/devices.ts';
import { agent, buildKit, person } from '../../test/kits/plane/kit.ts';

const fields = { subAgentName: 'helper one', ttl: '1m', policyPreset: 'sandboxed' };

async function rootAgent(options: Record<string, unknown> = {}) {
  const kit = await buildKit();
  const workspace = await kit.workspace('prod');
  const admin = person('admin', workspace);
  const { id, identity, token } = await kit.call('create_agent', { name: 'planner', ...options }, { as: admin });
  const parent = agent(identity.scopes, workspace, { id, name: 'planner' });
  return { kit, workspace, admin, parent, id, token };
}

test('a parent delegates with its own token and the answer names it', async () => {
  const { kit, parent, id } = await rootAgent();
  const answer = await kit.call('delegate_agent', { id, ...fields }, { as: parent });
  expect(answer).toEqual({
    enrollmentToken: expect.stringMatching(/^mesh-dlg-[\w-]{43}-[\w-]{16}$/),
    expiresAt: new Date(kit.clock.time + 60_000).toISOString(),
    parentRef: { name: 'planner', namespace: 'prod' },
  });
  await kit[Symbol.asyncDispose]();
});

test('a delegate token carries the public address of its control plane, and enrols with it and without', async () => {
  await using kit = await buildKit({ publicUrls: ['https://mesh.example.com'] });
  const workspace = await kit.workspace('prod');
  const { id, identity } = await kit.call('create_agent', { name: 'planner' }, { as: person('admin', workspace) });
  const parent = agent(identity.scopes, workspace, { id, name: 'planner' });
  const [whole, other] = await Promise.all(
    ['one', 'two'].map(async (subAgentName) => {
      const { enrollmentToken } = await kit.call('delegate_agent', { id, ...fields, subAgentName }, { as: parent });
      return enrollmentToken as string;
    }),
  );
  expect([whole, other].map((token = '') => addressIn(token))).toEqual(Array(2).fill('https://mesh.example.com'));
  expect(await enrol(kit, whole ?? '', 'one')).toMatchObject({ name: 'one' });
  expect(await enrol(kit, withoutAddress(other ?? ''), 'two')).toMatchObject({ name: 'two' });
});

test.each([
  ['a wider scope', { scopes: ['network:write'] }, 'forbidden'],
  ['a longer life', { ttl: '25h' }, 'forbidden'],
  ['a ttl that is no duration', { ttl: 'soon' }, 'invalid_input'],
  ['a ttl of zero', { ttl: '0s' }, 'invalid_input'],
  ['a ttl that is a megabyte', { ttl: '1ms'.repeat(330_000) }, 'invalid_input'],
  ['an unknown preset', { policyPreset: 'root' }, 'invalid_input'],
  ['a name with a slash', { subAgentName: 'a/b' }, 'invalid_input'],
  ['an unknown field', { admin: true }, 'invalid_input'],
])('a delegation with %s is refused', async (_what, change, code) => {
  const { kit, parent, id } = await rootAgent();
  const refused = kit.call('delegate_agent', { id, ...fields, ...change }, { as: parent });
  await expect(refused).rejects.toMatchObject({ code });
  await kit[Symbol.asyncDispose]();
});

test('a wider preset than the parent has is refused', async () => {
  const { kit, parent, id } = await rootAgent({ policyPreset: 'sandboxed' });
  const refused = kit.call('delegate_agent', { id, ...fields, policyPreset: 'coordinator' }, { as: parent });
  await expect(refused).rejects.toMatchObject({ code: 'forbidden' });
  await kit[Symbol.asyncDispose]();
});

test('nobody delegates for another agent, and a person does not delegate at all', async () => {
  const { kit, workspace, admin, parent } = await rootAgent();
  const { id: other } = await kit.call('create_agent', { name: 'other' }, { as: admin });
  await expect(kit.call('delegate_agent', { id: other, ...fields }, { as: parent })).rejects.toMatchObject({
    code: 'forbidden',
  });
  await expect(kit.call('delegate_agent', { id: other, ...fields }, { as: admin })).rejects.toMatchObject({
    code: 'forbidden',
  });
  const stranger = agent(['agents:delegate'], 'w_elsewhere', { id: other });
  await expect(kit.call('delegate_agent', { id: other, ...fields }, { as: stranger, workspace })).rejects.toMatchObject(
    { code: 'not_found' },
  );
  await kit[Symbol.asyncDispose]();
});

test('the name of a living sub-agent is taken, that of an ended one is free', async () => {
  const { kit, parent, id, admin } = await rootAgent();
  await kit.call('delegate_agent', { id, ...fields }, { as: parent });
  await expect(kit.call('delegate_agent', { id, ...fields }, { as: parent })).rejects.toMatchObject({
    code: 'conflict',
  });
  await kit.call('revoke_agent', { id: 'helper-one' }, { as: admin });
  await expect(kit.call('delegate_agent', { id, ...fields }, { as: parent })).resolves.toHaveProperty(
    'enrollmentToken',
  );
  await kit[Symbol.asyncDispose]();
});

test('revoking a parent ends everything it delegated', async () => {
  const { kit, parent, id, admin } = await rootAgent();
  await kit.call('delegate_agent', { id, ...fields }, { as: parent });
  expect(await kit.call('revoke_agent', { id }, { as: admin })).toMatchObject({ revoked: ['planner', 'helper-one'] });
  const { items } = await kit.call('list_agents', {}, { as: admin });
  expect(items.map(({ name, phase }: { name: string; phase: string }) => [name, phase])).toEqual([
    ['helper-one', 'Revoked'],
    ['planner', 'Revoked'],
  ]);
  await kit[Symbol.asyncDispose]();
});
