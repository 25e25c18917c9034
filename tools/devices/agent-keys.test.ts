import { expect, test } from 'vitest';
import { KeyAllowance, LOST_KEYS_PER_HOUR } from '../../core/model/key-allowance.ts';
import { enrol, freshKey } from '../../test/kits/plane/devices.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('where half of the keys of an hour are used up devices of agents wait for new ones, and those of people do not', async () => {
  await using kit = await buildWorkspaceKit();
  const keyAllowance = new KeyAllowance();
  Object.assign(kit.services, { keyAllowance });
  const root = await kit.ask('create_agent', {
    name: 'root',
    scopes: ['network:read', 'agents:delegate', 'tokens:write'],
  });
  const delegate = async (subAgentName: string) => {
    const raw = { id: root.id, subAgentName, ttl: '10m', policyPreset: 'isolated', scopes: ['network:read'] };
    return (await kit.call('delegate_agent', raw, { bearer: root.token })).enrollmentToken as string;
  };
  const sub = await enrol(kit, await delegate('one'), 'one');
  const { self } = await kit.join('web-1');
  const [next, guest] = [await delegate('two'), await kit.ask('generate_join_token', { name: 'people' })];
  const ofAgent = await kit.call('generate_join_token', { name: 'agents' }, { bearer: root.token });
  keyAllowance.lost(kit.workspace, LOST_KEYS_PER_HOUR / 2 + 5, kit.clock.now());
  kit.clock.time += 1_000;
  expect(await refusalOf(enrol(kit, next, 'two'))).toBe('rate_limited');
  expect(await refusalOf(enrol(kit, ofAgent.token, 'three'))).toBe('rate_limited');
  const rotated = { publicKey: freshKey().publicKey };
  expect(await refusalOf(kit.call('rotate_device_key', rotated, { bearer: sub.deviceToken }))).toBe('rate_limited');
  expect(await kit.call('rotate_device_key', rotated, self)).toMatchObject(rotated);
  await kit.join('web-2', { token: guest.token });
});
