import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { judgeWrites } from '../core/authority/judge.ts';
import { MeshError } from '../core/base/errors.ts';
import { draftOf } from '../core/base/record.ts';
import type { ComputationCall } from '../core/compute/computation.ts';
import { JsonText } from '../core/compute/compute.ts';
import { findWorkflow } from '../core/model/workflow-records.ts';
import { resumeWorkflows } from '../core/workflow/upkeep.ts';
import { startThread } from '../plane/compute/thread.ts';
import { heavyComputations } from '../tools/heavy.ts';
import { join } from './kits/plane/devices.ts';
import { buildKit, type Kit, person } from './kits/plane/kit.ts';

const SCOPES = ['network:read', 'network:write', 'intents:plan', 'intents:apply', 'agents:delegate'];
const WEB = { peerSelector: { matchLabels: { role: 'web' } } };
const PORTS = [{ protocol: 'TCP', port: 443 }];
/** Within the reach of the agent: everyone may talk already, and it is about what the reach names. */
const WITHIN = { action: 'ALLOW', ...WEB, ingress: [{ from: [{ peerSelector: {} }], ports: PORTS }] };

/**
 * A plane whose computations are done as a thread would, from copies of what they are given. `meanwhile` comes between
 * what was computed and its answer.
 */
async function scene() {
  const asked: ComputationCall[] = [];
  const hooks: { meanwhile?: () => Promise<unknown> } = {};
  const kit: Kit = await buildKit({
    compute: {
      async compute(call) {
        const { computation: name, workspace, input } = structuredClone(call);
        asked.push(call);
        const computation = heavyComputations.find((one) => one.name === name);
        const output = await computation?.run(kit.services, workspace, input as never);
        await hooks.meanwhile?.();
        return new JsonText(new TextEncoder().encode(JSON.stringify(output)));
      },
    },
  });
  const workspace = await kit.workspace('prod');
  const as = person('admin', workspace);
  const admin = (name: string, raw: Record<string, unknown> = {}) => kit.call(name, raw, { as, workspace });
  const { token } = await admin('generate_join_token', { name: 'web', labels: { role: 'web' } });
  await join(kit, workspace, 'web-1', { token });
  const other = await admin('generate_join_token', { name: 'db', labels: { role: 'db' } });
  await join(kit, workspace, 'db-1', { token: other.token });
  await admin('create_policy', { name: 'base', spec: { action: 'ALLOW', peerSelector: {}, ingress: [] } });
  const root = await admin('create_agent', { name: 'root', scopes: SCOPES, reach: [{ to: [WEB], ports: PORTS }] });
  const agent = (name: string, raw: Record<string, unknown> = {}) => kit.call(name, raw, { bearer: root.token });
  asked.length = 0;
  const policy = (name: string) => kit.services.store.get(workspace, { kind: 'MeshPolicy', name });
  /** As another process writes, without a turn in this one. */
  const relabel = async (name: string, labels: Record<string, string>) => {
    const key = { kind: 'MeshPeer', name } as const;
    const peer = await kit.services.store.get(workspace, key);
    if (!peer) throw new Error(`There is no peer ${name}.`);
    const record = { ...draftOf(peer), labels };
    const context = { actor: 'user:ada', reason: 'relabel', requestId: 'r' };
    await kit.services.store.commit(workspace, [{ op: 'update', record, revision: peer.revision }], context);
  };
  const names = () => asked.map(({ computation }) => computation);
  return {
    ...{ kit, workspace, admin, agent, agentId: root.id, token: root.token, asked, names, policy, hooks, relabel },
    [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose](),
  };
}

test('what an agent writes, asks for and a person approves is judged where computations are done', async () => {
  await using plane = await scene();
  expect(await plane.agent('create_policy', { name: 'web', spec: WITHIN })).toMatchObject({ name: 'web' });
  expect(plane.names()).toEqual(['judge_writes']);
  const { workflow_id: id } = await plane.agent('create_policy', {
    name: 'wide',
    spec: { ...WITHIN, peerSelector: {} },
  });
  expect(plane.names()).toEqual(['judge_writes', 'judge_writes', 'assess_proposal']);
  expect(await plane.admin('approve_workflow', { id })).toMatchObject({ status: 'executed' });
  expect(plane.names().slice(3)).toEqual(['assess_proposal']);
  const { reviewedBy } = (await findWorkflow(plane.kit.services, plane.workspace, String(id))).status;
  expect(plane.asked.map(({ workspace, principal }) => [workspace, principal])).toEqual([
    ...Array(3).fill([plane.workspace, plane.agentId]),
    [plane.workspace, reviewedBy],
  ]);
});

test('a plan that an agent applies is judged there too', async () => {
  await using plane = await scene();
  const change = { action: 'create', resource: 'MeshPolicy', name: 'web', spec: WITHIN };
  const { plan_id } = await plane.agent('plan_network_change', { intent: 'let web in', changes: [change] });
  plane.asked.length = 0;
  await plane.kit.call('apply_network_change', { plan_id }, { bearer: plane.token, face: 'mcp' });
  expect(plane.names()).toEqual(['assess_proposal']);
});

test('what changes between the judgement of a write and the write makes it judged again, and that decides', async () => {
  await using plane = await scene();
  plane.hooks.meanwhile = async () => {
    delete plane.hooks.meanwhile;
    await plane.relabel('web-1', { role: 'db' });
  };
  const { id } = await plane.admin('get_peer', { id: 'web-1' });
  const spec = { ...WITHIN, peerSelector: { peers: [id] } };
  expect(await plane.agent('create_policy', { name: 'web', spec })).toMatchObject({ status: 'pending_approval' });
  expect(plane.names()).toEqual(['judge_writes', 'judge_writes', 'assess_proposal']);
  expect(await plane.policy('web')).toBeUndefined();
});

test('a person who ends an agent does not wait behind all that it sent, and nothing of that is written afterwards', async () => {
  await using plane = await scene();
  let ended: Promise<unknown> | undefined;
  plane.hooks.meanwhile = async () => {
    ended ??= plane.admin('revoke_agent', { id: 'root' });
  };
  const writes = Array.from({ length: 20 }, (_, at) =>
    plane.agent('create_policy', { name: `web-${at}`, spec: WITHIN }).then(
      () => 'written',
      ({ code }) => code,
    ),
  );
  const answers = await Promise.all(writes);
  await ended;
  expect([answers[0], answers.at(-1)]).toEqual(['written', 'forbidden']);
  const written = answers.filter((answer) => answer === 'written').length;
  expect(answers.slice(written)).toEqual(Array(20 - written).fill('forbidden'));
});

test('an agent whose time is over while its write is judged writes nothing', async () => {
  await using plane = await scene();
  plane.hooks.meanwhile = async () => {
    plane.kit.clock.time += 366 * 86_400_000;
  };
  const refused = { code: 'forbidden', message: expect.stringContaining('has ended') };
  await expect(plane.agent('create_policy', { name: 'web', spec: WITHIN })).rejects.toMatchObject(refused);
  expect(await plane.policy('web')).toBeUndefined();
});

test('a write whose network changes during each of three judgements that take long is a conflict, and not written', async () => {
  await using plane = await scene();
  let round = 0;
  plane.hooks.meanwhile = () => {
    plane.kit.clock.time += 1_500;
    return plane.relabel('db-1', { role: 'db', round: `${++round}` });
  };
  await expect(plane.agent('create_policy', { name: 'web', spec: WITHIN })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/changed again and again.*send it again/),
  });
  expect([plane.names().length, await plane.policy('web')]).toEqual([3, undefined]);
});

test('what decides nothing may be written during a judgement', async () => {
  await using plane = await scene();
  plane.hooks.meanwhile = () => plane.admin('take_snapshot');
  await plane.agent('create_policy', { name: 'web', spec: WITHIN });
  expect(plane.names()).toEqual(['judge_writes']);
});

test('where nothing can be judged an agent writes nothing, and an approved workflow waits until it can', async () => {
  await using plane = await scene();
  const asked = await plane.agent('create_policy', { name: 'wide', spec: { ...WITHIN, peerSelector: {} } });
  plane.hooks.meanwhile = () => Promise.reject(new MeshError('unavailable', 'There is no room.'));
  await expect(plane.agent('create_policy', { name: 'web', spec: WITHIN })).rejects.toMatchObject({
    code: 'unavailable',
  });
  expect(await plane.policy('web')).toBeUndefined();
  const { workflow_id: id } = asked;
  await expect(plane.admin('approve_workflow', { id })).rejects.toMatchObject({ code: 'unavailable' });
  await resumeWorkflows(plane.kit.services, plane.workspace);
  expect(await plane.admin('get_workflow', { id })).toMatchObject({ status: 'executing' });
  delete plane.hooks.meanwhile;
  await resumeWorkflows(plane.kit.services, plane.workspace);
  expect(await plane.admin('get_workflow', { id })).toMatchObject({ status: 'executed' });
  expect(await plane.policy('wide')).toBeDefined();
});

test('a computing thread judges as is judged in place', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'judged-'));
  const url = path.join(directory, 'mesh.db');
  await using here = await buildKit({ path: url });
  const { settings, clock } = here.services;
  const entry = new URL('../bin/compose/compute-thread.ts', import.meta.url);
  const thread = startThread(entry, { workerData: { storeUrl: url, settings }, heapMb: 256 });
  const none = () => Promise.reject(new TypeError('It writes nothing.'));
  try {
    const workspace = await here.workspace('prod');
    const as = person('admin', workspace);
    const { token } = await here.call(
      'generate_join_token',
      { name: 'web', labels: { role: 'web' } },
      { as, workspace },
    );
    await join(here, workspace, 'web-1', { token });
    const given = { name: 'root', scopes: SCOPES, reach: [{ to: [WEB], ports: PORTS }] };
    const { id } = await here.call('create_agent', given, { as, workspace });
    for (const peerSelector of [WEB.peerSelector, {}]) {
      const spec = { ...WITHIN, peerSelector };
      const after = {
        kind: 'MeshPolicy',
        name: 'p',
        uid: 'pol_1',
        labels: {},
        annotations: {},
        spec,
        status: {},
        unique: [],
      };
      const input = { agent: id, writes: [{ type: 'created', kind: 'MeshPolicy', name: 'p', after }] } as const;
      const asker = { workspace, principal: id, requestId: 'r' };
      const call = { ...asker, computation: 'judge_writes', input };
      const elsewhere = await thread.run(call, clock.now(), { commit: none, record: none });
      const inPlace = await here.services.computed(judgeWrites, input as never, asker);
      expect(elsewhere.parse()).toEqual(JSON.parse(JSON.stringify(inPlace)));
      expect(inPlace.beyond === undefined).toBe(peerSelector === WEB.peerSelector);
    }
  } finally {
    await thread.end();
    rmSync(directory, { recursive: true });
  }
});
