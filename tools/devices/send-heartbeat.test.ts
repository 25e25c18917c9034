import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a device that sends a heartbeat is online, and is told its phase and the version of its graph', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1');
  expect(await kit.call('send_heartbeat', {}, self)).toEqual({
    phase: 'ready',
    version: expect.any(Number),
    at: '2026-01-05T12:00:00.000Z',
    checkpoint: null,
  });
  expect(await kit.ask('get_peer', { id })).toMatchObject({ status: { online: true } });
});

test('a path of an unknown kind is refused by its field', async () => {
  await using kit = await buildWorkspaceKit();
  const { self } = await kit.join('web-1');
  const paths = [{ peer: 'p_1', transport: 'smoke', path: null, reason: 'fire', since: '2026-01-05T12:00:00Z' }];
  expect(await refusalOf(kit.call('send_heartbeat', { paths }, self))).toBe('invalid_input /paths/0/transport');
});

test('only a device is answered, and it needs its own token', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('web-1');
  expect(await refusalOf(kit.ask('send_heartbeat', {}))).toBe('forbidden device');
  expect(await refusalOf(kit.call('send_heartbeat', {}))).toBe('unauthenticated');
});

test('what a device says of the audit log that it refuses is an event once, and bad reports are refused', async () => {
  await using kit = await buildWorkspaceKit();
  const { self } = await kit.join('web-1');
  const beat = (witnessed: object) => kit.call('send_heartbeat', { witnessed }, self);
  const refused = { size: 9, finding: { code: 'forked', message: 'There are two histories.' } };
  await beat({ size: 9 });
  for (let n = 0; n < 3; n += 1) await beat(refused);
  const { items } = await kit.ask('list_audit', { type: 'event' });
  const told = items.filter(({ event }: { event: string }) => event === 'audit.contradicted');
  expect(told).toMatchObject([{ actor: 'device:web-1', detail: { code: 'forked', size: 9 } }]);
  for (const bad of [{ size: -1 }, { size: 2 ** 53 }, { size: 1, finding: { code: 'x', message: 'y' } }, {}]) {
    await expect(beat(bad)).rejects.toMatchObject({ code: 'invalid_input' });
  }
});
