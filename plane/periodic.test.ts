import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { eachLedWorkspace, SOLE_LEADER } from '../core/base/leader.ts';
import { formatInstant } from '../core/base/time.ts';
import { ADDRESS_QUARANTINE_MS } from '../core/changes/address.ts';
import { listSnapshots } from '../core/history/snapshots.ts';
import { enrol } from '../test/kits/plane/devices.ts';
import { agent, buildKit, type Kit, person } from '../test/kits/plane/kit.ts';
import { verifies } from '../test/verifies.ts';
import { buildJobs } from './periodic.ts';

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 0, 5, 12);

async function runJob(kit: Kit, name: string): Promise<number | undefined> {
  const job = buildJobs(kit.services, kit.gate).find((one) => one.name === name);
  if (!job) throw new TypeError(`There is no job ${name}.`);
  return job.run();
}

test('the daily snapshot is taken once, at 02:00 in the time zone of the workspace', async () => {
  await using kit = await buildKit({ now: NOON });
  const workspace = await kit.workspace();
  const daily = async () => {
    const next = await runJob(kit, 'take scheduled snapshots');
    const { items } = await listSnapshots(kit.services, workspace, { trigger: 'scheduled', limit: 50 });
    return { next: next === undefined ? undefined : formatInstant(next), taken: items.length };
  };
  expect(await daily()).toEqual({ next: '2026-01-06T02:00:00.000Z', taken: 0 });
  kit.clock.time = Date.UTC(2026, 0, 6, 1, 59, 59, 999);
  expect(await daily()).toEqual({ next: '2026-01-06T02:00:00.000Z', taken: 0 });
  kit.clock.time = Date.UTC(2026, 0, 6, 2);
  expect(await daily()).toEqual({ next: '2026-01-07T02:00:00.000Z', taken: 1 });
  expect(await daily()).toEqual({ next: '2026-01-07T02:00:00.000Z', taken: 1 });
});

test('a daily snapshot that was missed is taken once at the next start', async () => {
  await using kit = await buildKit({ now: NOON });
  const workspace = await kit.workspace();
  kit.clock.time = NOON + 5 * 24 * HOUR;
  await runJob(kit, 'take scheduled snapshots');
  await runJob(kit, 'take scheduled snapshots');
  const { items } = await listSnapshots(kit.services, workspace, { trigger: 'scheduled', limit: 50 });
  expect(items.map(({ spec }) => spec.capturedAt)).toEqual([NOON + 5 * 24 * HOUR]);
});

test('a policy begins at its instant, and the job that lets it wakes for those that wait', async () => {
  await using kit = await buildKit({ now: NOON });
  const workspace = await kit.workspace();
  const woken: boolean[] = [];
  const job = buildJobs(kit.services, kit.gate).find(({ name }) => name === 'begin policies');
  kit.services.store.onCommit((commit) => woken.push(job?.wakeOn?.(commit) === true));
  const spec = { action: 'DENY', peerSelector: {}, startsAt: formatInstant(NOON + HOUR) };
  await kit.call('create_policy', { name: 'late', spec }, { as: person('admin', workspace), workspace });
  expect(woken).toEqual([true]);
  expect(await job?.run()).toBe(NOON + HOUR);
  kit.clock.time = NOON + HOUR;
  expect(await job?.run()).toBeUndefined();
  expect(woken).toEqual([true, false]);
  expect((await kit.services.states.current(workspace)).policies.get('late')?.spec).toEqual({
    action: 'DENY',
    peerSelector: {},
  });
});

test('a delegated identity and its peer are gone at their instant, not before, and the address is in quarantine', async () => {
  await using kit = await buildKit({ now: NOON });
  const { workspace, agentName } = await enrolled(kit);
  const seen = async () => {
    const next = await runJob(kit, 'expire agents');
    const { peers, agents, policies } = await kit.services.states.current(workspace);
    return { next, peers: peers.size, policies: policies.size, phase: agents.get(agentName)?.status.phase };
  };
  kit.clock.time = NOON + 59_999;
  expect(await seen()).toEqual({ next: NOON + 60_000, peers: 1, policies: 2, phase: 'Active' });
  kit.clock.time = NOON + 60_000;
  expect(await seen()).toEqual({ next: NOON + 24 * HOUR, peers: 0, policies: 0, phase: 'Expired' });
  const quarantined = await kit.services.store.list(workspace, 'AddressRest');
  expect(quarantined.items.map(({ name, spec }) => ({ name, spec }))).toEqual([
    { name: '10.96.0.1', spec: { until: NOON + 60_000 + ADDRESS_QUARANTINE_MS } },
  ]);
});

test('an identity that ended while nobody was up ends at the next start', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'mesh-periodic-'));
  const storePath = path.join(directory, 'mesh.db');
  const before = await buildKit({ now: NOON, path: storePath });
  const { workspace, agentName } = await enrolled(before);
  await before[Symbol.asyncDispose]();
  {
    await using kit = await buildKit({ now: NOON + 2 * HOUR, path: storePath });
    await runJob(kit, 'expire agents');
    const { peers, agents } = await kit.services.states.current(workspace);
    expect({ peers: peers.size, phase: agents.get(agentName)?.status.phase }).toEqual({ peers: 0, phase: 'Expired' });
  }
  await rm(directory, { recursive: true });
});

test('retention deletes snapshots and versions of more than a year, keeps the state in force then and the audit log', async () => {
  await using kit = await buildKit({ now: NOON });
  const workspace = await kit.workspace();
  const operator = person('operator', workspace);
  const policy = (name: string) => ({ name, spec: { action: 'DENY', peerSelector: {} } });
  await kit.call('create_policy', policy('first'), { as: operator });
  await kit.call('take_snapshot', {}, { as: operator });
  kit.clock.time = NOON + 24 * HOUR;
  await kit.call('delete_policy', { id: 'first' }, { as: operator });
  const kept = await kit.call('take_snapshot', {}, { as: operator });
  const audited = (await kit.services.store.audit(workspace, { limit: 100 })).length;
  kit.clock.time = NOON + 366 * 24 * HOUR;
  await runJob(kit, 'enforce retention');

  const { items } = await listSnapshots(kit.services, workspace, { limit: 50 });
  expect(items.map(({ uid }) => uid)).toEqual([kept.id]);
  const { store } = kit.services;
  await expect(store.list(workspace, 'MeshPolicy', { asOf: { at: NOON } })).rejects.toMatchObject({
    code: 'compacted',
  });
  expect((await store.list(workspace, 'MeshPolicy', { asOf: { at: NOON + 24 * HOUR } })).items).toEqual([]);
  expect((await store.audit(workspace, { limit: 100 })).length).toBeGreaterThanOrEqual(audited);
});

test.each([
  ['community', 90],
  ['pro', 365],
] as const)('the %s edition keeps a snapshot %i days and no longer', async (edition, days) => {
  verifies('snapshot-retention');
  const directory = await mkdtemp(path.join(tmpdir(), 'mesh-retention-'));
  const storePath = path.join(directory, 'mesh.db');
  const taken = await buildKit({ now: NOON, path: storePath });
  const workspace = await taken.workspace();
  await taken.call('take_snapshot', {}, { as: person('operator', workspace) });
  await taken[Symbol.asyncDispose]();
  {
    await using kit = await buildKit({ edition, now: NOON + days * 24 * HOUR, path: storePath });
    const left = async () => {
      await runJob(kit, 'enforce retention');
      return (await listSnapshots(kit.services, workspace, { limit: 50 })).items.length;
    };
    expect(await left()).toBe(1);
    kit.clock.time += 1;
    expect(await left()).toBe(0);
  }
  await rm(directory, { recursive: true });
});

test('one workspace that fails does not keep the others from their work', async () => {
  const done: string[] = [];
  const store = { workspaces: async () => ['w_system', 'w_a', 'w_b', 'w_c'] } as never;
  const work = async (workspace: string) => {
    if (workspace === 'w_a') throw new Error('a is broken');
    done.push(workspace);
  };
  await expect(eachLedWorkspace(SOLE_LEADER, { store }, work)).rejects.toThrow('a is broken');
  expect(done).toEqual(['w_b', 'w_c']);
});

async function enrolled(kit: Kit): Promise<{ workspace: string; agentName: string }> {
  const workspace = await kit.workspace();
  const admin = person('admin', workspace);
  const { id, identity } = await kit.call('create_agent', { name: 'planner' }, { as: admin });
  const parent = agent(identity.scopes, workspace, { id, name: 'planner' });
  const fields = { id, subAgentName: 'helper', ttl: '1m', policyPreset: 'sandboxed' };
  const { enrollmentToken } = await kit.call('delegate_agent', fields, { as: parent });
  await enrol(kit, enrollmentToken, 'helper', { hostname: 'helper', platform: 'agent' });
  return { workspace, agentName: 'helper' };
}
