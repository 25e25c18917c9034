import { expect, onTestFinished, test } from 'vitest';
import type { SharedMessages } from '../core/base/shared.ts';
import { LONGEST_ONLINE_MS } from '../core/model/heartbeat-times.ts';
import { buildLiveness } from '../core/model/liveness.ts';
import { ReceivedHeartbeats } from '../core/model/received-heartbeats.ts';
import { ReportedPaths } from '../core/model/reported-paths.ts';
import { Witnesses } from '../core/model/witnesses.ts';
import { recordHeartbeat, sweepWorkspace } from '../core/peers/presence.ts';
import { buildWorkspaceKit } from '../test/kits/plane/workspace-kit.ts';
import { shareHeartbeats } from './shared-heartbeats.ts';

/** Two control planes on one store, of which nodes ask the second over HTTP. */
async function twoPlanes() {
  const kit = await buildWorkspaceKit();
  const posted: string[] = [];
  const planeOf = () => {
    let fails = false;
    const own = { liveness: buildLiveness(), paths: new ReportedPaths(), witnesses: new Witnesses() };
    const services = { ...kit.services, ...own, hearings: new ReceivedHeartbeats() };
    let read = 0;
    const messages: SharedMessages = {
      async post(texts) {
        if (fails) throw new Error('no majority');
        posted.push(...texts);
      },
      async read() {
        const found = posted.slice(read);
        read = posted.length;
        return found;
      },
    };
    const shared = shareHeartbeats(messages, services.hearings, services);
    return {
      services,
      shared,
      fail(does: boolean) {
        fails = does;
      },
    };
  };
  const [leader, other] = [planeOf(), planeOf()];
  onTestFinished(async () => {
    for (const { shared } of [leader, other]) await shared.stop();
    await kit[Symbol.asyncDispose]();
  });
  return { kit, posted, leader, other };
}

const PATH = {
  peer: 'p_db',
  transport: 'ice-ready',
  path: 'direct',
  reason: 'ok',
  since: '2026-01-05T12:00:00Z',
} as const;

test('what a node says over HTTP to one control plane every other one knows, in one message', async () => {
  const { kit, leader, other, posted } = await twoPlanes();
  const { workspace, clock } = kit;
  const { id: peer } = await kit.join('web');
  const says = (said: object) => other.services.hearings.add({ ...said, workspace, peer, at: clock.now() });
  says({ version: '1.2.3', paths: [PATH], witnessed: { size: 7 }, wire: '1-3' });
  says({ paths: [{ ...PATH, path: 'relayed' }], version: undefined });
  await other.shared.tell();
  await leader.shared.tell();
  expect(posted).toHaveLength(1);
  const { liveness, paths, witnesses } = leader.services;
  expect([liveness.lastSeen(workspace, peer), liveness.version(workspace, peer)]).toEqual([clock.now(), '1.2.3']);
  expect(paths.of(workspace, peer)).toEqual([{ ...PATH, path: 'relayed' }]);
  expect(witnesses.of(workspace, peer)).toEqual({ size: 7 });
  expect(liveness.onlineMs(workspace, peer)).toBe(45_000);

  other.services.hearings.add({ workspace, peer, at: clock.now(), mismatch: 'upgrade the node' });
  await other.shared.tell();
  await leader.shared.tell();
  expect(liveness.mismatch(workspace, peer)).toBe('upgrade the node');
});

test('who beats at another control plane is not written as offline, and who is silent is', async () => {
  const { kit, leader, other } = await twoPlanes();
  const { workspace, clock } = kit;
  const began = clock.time;
  const [web, gone] = [await kit.join('web'), await kit.join('gone')];
  const beats = async (peer: string) => {
    other.services.hearings.add({ workspace, peer, at: clock.now() });
    await recordHeartbeat(other.services, workspace, peer, { actor: 'device:web', requestId: 'r' });
  };
  const online = async () => {
    const { presence } = await kit.services.states.current(workspace);
    return ['web', 'gone'].filter((name) => presence.get(name)?.spec.online);
  };
  clock.time += LONGEST_ONLINE_MS;
  await beats(web.id);
  await beats(gone.id);
  // It was told of neither yet, but both were written as online a moment ago.
  const next = await sweepWorkspace(leader.services, workspace, began);
  expect([await online(), (next ?? 0) > clock.time]).toEqual([['web', 'gone'], true]);
  for (let n = 0; n < 3; n += 1) {
    await other.shared.tell();
    await leader.shared.tell();
    clock.time += 30_000;
    await beats(web.id);
  }
  await sweepWorkspace(leader.services, workspace, began);
  expect(await online()).toEqual(['web']);
});

test('what cannot be read of a message, or is of nobody, is passed over', async () => {
  const { kit, leader, posted } = await twoPlanes();
  const { workspace, clock } = kit;
  const { id: peer } = await kit.join('web');
  const of = (fields: object) => ({ workspace, peer, at: clock.now() + 3_600_000, ...fields });
  posted.push('no JSON', '{}', JSON.stringify([1, of({ paths: 'none' }), of({ peer: 'p_nobody' }), of({})]));
  await leader.shared.tell();
  // A clock that is ahead keeps nobody online for longer.
  expect(leader.services.liveness.lastSeen(workspace, peer)).toBe(clock.now());
  expect(leader.services.liveness.lastSeen(workspace, 'p_nobody')).toBeUndefined();
});

test('however much nodes say, no message is too large, and a store that does not answer is asked again', async () => {
  const { kit, posted, other } = await twoPlanes();
  const { workspace, clock } = kit;
  const paths = Array.from({ length: 256 }, (_, n) => ({ ...PATH, peer: `p_${n}` }));
  const addAll = () => {
    for (let n = 0; n < 60; n += 1) other.services.hearings.add({ workspace, peer: `p_${n}`, at: clock.now(), paths });
  };
  addAll();
  other.fail(true);
  await other.shared.tell();
  other.fail(false);
  addAll();
  await other.shared.tell();
  expect(posted.length).toBeGreaterThan(2);
  expect(Math.max(...posted.map((text) => text.length))).toBeLessThan(1_000_000);
  expect(posted.flatMap((text) => JSON.parse(text))).toHaveLength(60);
});
