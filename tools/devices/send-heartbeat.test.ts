import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
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

test('a device that says that it goes is offline at once, and online again with its next heartbeat', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1');
  const beat = (body: object) => kit.call('send_heartbeat', { ...body }, self);
  const shown = async () => (await kit.ask('get_peer', { id })).status;
  await beat({});
  kit.clock.time += 5_000;
  await beat({ leaving: true });
  expect(await shown()).toMatchObject({ online: false, lastSeenAt: formatInstant(kit.clock.time - 5_000) });
  const [went] = await kit.services.store.commits(
    kit.workspace,
    (await kit.services.store.revision(kit.workspace)) - 1,
    1,
  );
  expect(went).toMatchObject({ actor: 'device:web-1', reason: 'web-1 went offline' });
  await beat({});
  expect(await shown()).toMatchObject({ online: true });
  expect(await refusalOf(beat({ leaving: false }))).toBe('invalid_input /leaving');
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

test('the version that a device says is shown with its peer, costs no revision while it stays, and the past has the one it came with', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1', { version: '0.1.0' });
  const shown = async () => (await kit.ask('get_peer', { id })).status.version;
  expect(await shown()).toBe('0.1.0');
  await kit.call('send_heartbeat', {}, self);
  const came = await kit.services.store.revision(kit.workspace);
  kit.clock.time += 1_000;
  await kit.call('send_heartbeat', { version: '0.2.0' }, self);
  await kit.call('send_heartbeat', {}, self);
  expect(await shown()).toBe('0.2.0');
  expect(await kit.services.store.revision(kit.workspace)).toBe(came);
  const at = formatInstant(kit.clock.time - 1_000);
  const { items } = await kit.ask('list_peers', { at });
  expect(items[0].status).toMatchObject({ online: true, version: '0.1.0' });
  kit.services.liveness.forget(kit.workspace, id);
  expect(await shown(), 'after a restart').toBe('0.1.0');
});

test('a version that is no line of text is refused by its field, and a device that says none has none', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1');
  await kit.call('send_heartbeat', {}, self);
  expect((await kit.ask('get_peer', { id })).status.version).toBeNull();
  for (const version of ['', 'a\nb', 'x'.repeat(65)]) {
    expect(await refusalOf(kit.call('send_heartbeat', { version }, self))).toBe('invalid_input /version');
  }
});
