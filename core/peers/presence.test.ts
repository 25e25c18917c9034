import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { buildWorkspaceKit } from '../../test/kits/plane/workspace-kit.ts';
import { LONGEST_ONLINE_MS } from '../model/heartbeat-times.ts';
import { recordDeparture, recordHeartbeat, recordPresence, sweepWorkspace } from './presence.ts';

const WHY = { actor: 'device:web-1', requestId: 'r' };

test('however a device flaps, it writes at most two revisions and two snapshots of presence in the time after which it counts as gone', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 10, max: 2 * LONGEST_ONLINE_MS }), { minLength: 20, maxLength: 60 }),
      async (waits) => {
        await using kit = await buildHistoryKit();
        const { id } = await kit.join('web-1', { role: 'web' });
        const { store } = kit.services;
        const [began, first] = [kit.clock.time, await store.revision(kit.workspace)];
        for (const wait of waits) {
          await kit.pass(wait);
          await sweepWorkspace(kit.services, kit.workspace, began);
          await recordHeartbeat(kit.services, kit.workspace, id, WHY);
        }
        await kit.pass(10_000);
        const spans = Math.ceil((kit.clock.time - began) / LONGEST_ONLINE_MS) + 1;
        const commits = await store.commits(kit.workspace, first, 1_000);
        const written = commits.filter(({ changes }) => changes.some(({ record }) => record.kind === 'Presence'));
        expect(written.every(({ changes }) => changes.length === 1)).toBe(true);
        expect(written.length).toBeLessThanOrEqual(2 * spans);
        expect(written.length).toBeGreaterThan(0);
        const { items } = await kit.ask('list_snapshots', { limit: 200 });
        const kinds = items.filter(({ trigger_type }: { trigger_type: string }) => trigger_type.startsWith('peer_'));
        expect(kinds.length).toBeLessThanOrEqual(written.length);
      },
    ),
    { numRuns: 10 },
  );
}, 60_000);

/** A kit with one device that can come and go, on a disk as full as a test says. */
async function buildFlappingKit() {
  const disk = { left: 1 };
  const kit = await buildWorkspaceKit({ left: () => disk.left });
  const { workspace, services } = kit;
  const { id } = await kit.join('web-1');
  const recorded = async () => (await services.states.current(workspace)).presence.get('web-1')?.spec.online ?? false;
  return {
    ...kit,
    disk,
    comes: () => recordHeartbeat(services, workspace, id, WHY),
    goes: () => recordDeparture(services, workspace, id, WHY),
    record: () => recordPresence(services, workspace),
    sweep: () => sweepWorkspace(services, workspace, 0),
    revision: () => services.store.revision(workspace),
    shown: async () => (await kit.ask('get_peer', { id })).status.online as boolean,
    /** As answers show it, and as it is recorded. */
    async both() {
      return [await this.shown(), await recorded()];
    },
  };
}

test('a device that comes and goes again and again is shown as it is at once, and recorded a few times and then once a minute', async () => {
  await using kit = await buildFlappingKit();
  const before = await kit.revision();
  for (let second = 0; second < 300; second += 1) {
    await kit.comes();
    expect(await kit.shown()).toBe(true);
    await kit.goes();
    expect(await kit.shown()).toBe(false);
    await kit.record();
    kit.clock.time += 1_000;
  }
  await kit.comes();
  kit.clock.time += 60_000;
  await kit.comes();
  await kit.record();
  expect(await kit.both()).toEqual([true, true]);
  const written = (await kit.revision()) - before;
  expect(written).toBeGreaterThan(1);
  expect(written).toBeLessThanOrEqual(4 + 300 / 60 + 1);
});

test('what a device says while it is still being recorded that it came is what is recorded in the end', async () => {
  await using kit = await buildFlappingKit();
  await Promise.all([kit.comes(), kit.goes()]);
  expect(await kit.both()).toEqual([false, false]);
  await Promise.all([kit.comes(), kit.goes(), kit.comes()]);
  kit.clock.time += 60_000;
  await kit.comes();
  await kit.record();
  expect(await kit.both()).toEqual([true, true]);
});

test('on a disk that is nearly full devices come and go in answers alone, and are recorded once there is room', async () => {
  await using kit = await buildFlappingKit();
  await kit.comes();
  kit.disk.left = 0.2;
  const before = await kit.revision();
  await kit.goes();
  expect(await kit.both()).toEqual([false, true]);
  await kit.comes();
  expect(await kit.both()).toEqual([true, true]);
  kit.clock.time += LONGEST_ONLINE_MS;
  await kit.sweep();
  await kit.record();
  expect([await kit.both(), await kit.revision()]).toEqual([[false, true], before]);
  kit.disk.left = 1;
  kit.clock.time += 60_000;
  await kit.record();
  expect(await kit.both()).toEqual([false, false]);
});

test('a device that fell silent before its coming was recorded is offline', async () => {
  await using kit = await buildFlappingKit();
  kit.disk.left = 0.2;
  await kit.comes();
  expect(await kit.both()).toEqual([true, false]);
  kit.clock.time += LONGEST_ONLINE_MS;
  await kit.record();
  expect(await kit.both()).toEqual([false, false]);
});

test('of two devices that fall silent together the newer one is offline after 45 s, and the older one after 90', async () => {
  await using kit = await buildWorkspaceKit();
  const { workspace, services } = kit;
  for (const [name, wire] of [
    ['newer', '1-3'],
    ['older', '1-2'],
  ] as const) {
    const { id } = await kit.join(name);
    await recordHeartbeat(services, workspace, id, WHY, { wire });
  }
  const onlineAfter = async (ms: number) => {
    kit.clock.time += ms;
    await sweepWorkspace(services, workspace, 0);
    const { presence } = await services.states.current(workspace);
    return ['newer', 'older'].filter((name) => presence.get(name)?.spec.online);
  };
  expect(await onlineAfter(44_999)).toEqual(['newer', 'older']);
  expect(await onlineAfter(1)).toEqual(['older']);
  expect(await onlineAfter(44_999)).toEqual(['older']);
  expect(await onlineAfter(1)).toEqual([]);
});
