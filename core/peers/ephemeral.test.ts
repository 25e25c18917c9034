import { expect, test } from 'vitest';
import { enrol, joinToken } from '../../test/kits/plane/devices.ts';
import { buildKit, person } from '../../test/kits/plane/kit.ts';
import { switchedLeadership } from '../../test/kits/plane/switched-leadership.ts';
import { LONGEST_ONLINE_MS } from '../model/heartbeat-times.ts';
import { buildLiveness } from '../model/liveness.ts';
import { EPHEMERAL_MS, removeEphemeral } from './ephemeral.ts';
import { type NetworkJob, networkJobs } from './jobs.ts';
import { recordHeartbeat, sweepWorkspace } from './presence.ts';

const WHY = { actor: 'device:x', requestId: 'r' };

function jobOf(jobs: readonly NetworkJob[]): NetworkJob {
  const job = jobs.find(({ name }) => name === 'remove ephemeral peers');
  if (!job) throw new TypeError('It is not among the jobs.');
  return job;
}

async function prepared(fields: Record<string, unknown>, token: Record<string, unknown> = {}) {
  const kit = await buildKit();
  const workspace = await kit.workspace();
  const { id } = await enrol(kit, await joinToken(kit, workspace, token), 'runner', fields);
  const since = kit.services.clock.now();
  return {
    kit,
    id,
    names: async () => [...(await kit.services.states.current(workspace)).peers.keys()],
    peer: () => kit.call('get_peer', { id: 'runner' }, { as: person('viewer', workspace), workspace }),
    heard: () => recordHeartbeat(kit.services, workspace, id, WHY),
    sweep: () => sweepWorkspace(kit.services, workspace, since),
    remove: (from = since) => removeEphemeral(kit.services, workspace, from),
    reasons: async () => {
      const commits = await kit.services.store.commits(workspace, 0, 1_000);
      return commits.map(({ actor, reason }) => `${actor}: ${reason}`);
    },
    workspace,
  };
}

test.each([
  ['asks for it', { ephemeral: true }, {}],
  ['comes with a token that says so', {}, { ephemeral: true }],
])(
  'a device that %s is deleted once it was offline for ten minutes, as a change with its reason',
  async (_how, fields, token) => {
    const { kit, names, peer, heard, sweep, remove, reasons } = await prepared(fields, token);
    await using _kit = kit;
    expect((await peer()).status).toMatchObject({ ephemeral: true });
    await heard();
    kit.clock.time += EPHEMERAL_MS * 3;
    await heard();
    await remove();
    expect(await names()).toEqual(['runner']);
    kit.clock.time += LONGEST_ONLINE_MS;
    await sweep();
    const end = await remove();
    expect(end).toBe(kit.clock.now() - LONGEST_ONLINE_MS + EPHEMERAL_MS);
    kit.clock.time += EPHEMERAL_MS - LONGEST_ONLINE_MS - 1;
    await remove();
    expect(await names()).toEqual(['runner']);
    kit.clock.time += 1;
    expect(await remove()).toBeUndefined();
    expect(await names()).toEqual([]);
    expect((await reasons()).at(-1)).toBe('system:ephemeral: deleted runner, offline for 10 minutes');
  },
);

test('one that never came online is deleted as long after it joined', async () => {
  const { kit, names, remove } = await prepared({ ephemeral: true });
  await using _kit = kit;
  kit.clock.time += EPHEMERAL_MS;
  await remove();
  expect(await names()).toEqual([]);
});

test('while the control plane is away its time goes on, and whoever came back meanwhile has that of a heartbeat to be heard', async () => {
  const { kit, names, heard, remove } = await prepared({ ephemeral: true });
  await using _kit = kit;
  kit.clock.time += EPHEMERAL_MS * 5;
  const since = kit.clock.now();
  expect(await remove(since)).toBe(since + LONGEST_ONLINE_MS);
  expect(await names()).toEqual(['runner']);
  kit.clock.time += LONGEST_ONLINE_MS - 1;
  await heard();
  kit.clock.time += 1;
  await remove(since);
  expect(await names()).toEqual(['runner']);
});

test('a control plane that is restarted again and again, and one that leads after another, delete it ten minutes after it was last heard', async () => {
  const { kit, names, heard, sweep } = await prepared({ ephemeral: true });
  await using _kit = kit;
  await heard();
  const wentAt = kit.clock.now();
  kit.clock.time += LONGEST_ONLINE_MS;
  await sweep();
  const next = switchedLeadership(false);
  const waiting = jobOf(networkJobs({ ...kit.services, liveness: buildLiveness() }, next));
  // Each begins with what is stored alone.
  for (const part of [2, 4, 6, 7]) {
    kit.clock.time = wentAt + (EPHEMERAL_MS * part) / 10 + LONGEST_ONLINE_MS / 2;
    const restarted = jobOf(networkJobs({ ...kit.services, liveness: buildLiveness() }));
    expect(await restarted.run()).toBe(wentAt + EPHEMERAL_MS);
  }
  kit.clock.time = wentAt + EPHEMERAL_MS - 1;
  await next.set(true);
  expect([await waiting.run(), await names()]).toEqual([wentAt + EPHEMERAL_MS, ['runner']]);
  kit.clock.time += 1;
  await waiting.run();
  expect(await names()).toEqual([]);
});

test('any other device stays, however long it is offline', async () => {
  const { kit, names, remove, peer } = await prepared({});
  await using _kit = kit;
  kit.clock.time += EPHEMERAL_MS * 1_000;
  expect(await remove()).toBeUndefined();
  expect(await names()).toEqual(['runner']);
  expect((await peer()).status).not.toHaveProperty('ephemeral');
});

test('the job wakes when one comes and when one goes offline', async () => {
  const { kit, heard, workspace } = await prepared({ ephemeral: true });
  await using _kit = kit;
  const job = jobOf(networkJobs(kit.services));
  const woken: boolean[] = [];
  const stop = kit.services.store.onCommit((commit) => woken.push(job.wakeOn(commit)));
  await heard();
  kit.clock.time += LONGEST_ONLINE_MS;
  await sweepWorkspace(kit.services, workspace, kit.clock.now() - LONGEST_ONLINE_MS);
  await enrol(kit, await joinToken(kit, workspace), 'other', {});
  await enrol(kit, await joinToken(kit, workspace, { ephemeral: true }), 'second', {});
  stop();
  expect(woken.filter((isWoken) => isWoken)).toHaveLength(2);
});
