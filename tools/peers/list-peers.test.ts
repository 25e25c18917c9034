import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';

const HOUR = 3_600_000;

async function scene() {
  const kit = await buildHistoryKit();
  const old = await kit.join('web-1', { role: 'web' });
  await kit.join('db-1', { role: 'db' });
  kit.clock.time += HOUR;
  await kit.join('web-2', { role: 'web', env: 'prod' });
  const middle = formatInstant(kit.clock.time - 1);
  const publicKey = Buffer.from('another-key'.padEnd(32, '.')).toString('base64');
  const { deviceToken } = await kit.call('rotate_device_key', { publicKey }, { bearer: old.deviceToken });
  await kit.call('send_heartbeat', {}, { bearer: deviceToken });
  await kit.pass(1_000);
  return { kit, middle, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

test('a list of peers is filtered by name, labels, presence and the age of keys', async () => {
  await using it = await scene();
  const names = async (query: Record<string, unknown>) =>
    (await it.kit.ask('list_peers', query)).items.map(({ name }: { name: string }) => name);
  expect(await names({ prefix: 'WEB' })).toEqual(['web-1', 'web-2']);
  expect(await names({ label: 'role=web' })).toEqual(['web-1', 'web-2']);
  expect(await names({ label: 'role=web,env!=prod' })).toEqual(['web-1']);
  expect(await names({ phase: 'pending' })).toEqual([]);
  expect(await names({ key_before: it.middle })).toEqual(['db-1']);
  expect(await names({ joined_since: it.middle })).toEqual(['web-2']);
  expect(await names({ offline_since: it.middle })).toEqual(await names({ online: false }));
  await expect(it.kit.ask('list_peers', { label: 'web' })).rejects.toMatchObject({ code: 'invalid_input' });
});

test('a list of peers has the fields that are asked for, beside id and name', async () => {
  await using it = await scene();
  const { items } = await it.kit.ask('list_peers', { fields: ['labels'], prefix: 'db' });
  expect(items).toEqual([{ id: expect.stringMatching(/^p_/), name: 'db-1', labels: { role: 'db' } }]);
});
