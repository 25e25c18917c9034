import { describe, expect, it } from 'vitest';
import { agent, buildKit, type Kit, person } from '../../test/kits/plane/kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';
import { MeshError } from '../base/errors.ts';
import { type Store, StoreError } from '../base/ports.ts';
import type { WorkflowRecord, WorkflowState } from '../model/workflow-records.ts';
import { findWorkflow } from '../model/workflow-records.ts';
import { executeWorkflow } from './execute.ts';
import type { Services } from './services.ts';
import { expireWorkflows, resumeWorkflows } from './upkeep.ts';
import { workflowDraft } from './workflow-record.ts';

const DAY_MS = 86_400_000;

async function pendingWorkflow(kit: Kit) {
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, { 'web-1': { role: 'web' }, 'db-1': { role: 'db' }, 'api-1': {} });
  const as = agent(['network:read', 'intents:plan', 'intents:apply'], workspace);
  const call = (name: string, raw: Record<string, unknown>) => kit.call(name, raw, { as, workspace, face: 'mcp' });
  const { plan_id } = await call('plan_network_change', { intent: 'let web reach db and nobody else' });
  const { workflow_id: id } = await call('apply_network_change', { plan_id });
  return { workspace, id, plan_id, call };
}

/** As a process leaves it that was killed after this commit. */
async function leaveIn(kit: Kit, workspace: string, id: string, state: WorkflowState): Promise<void> {
  const { name, spec, status, revision } = await findWorkflow(kit.services, workspace, id);
  const record = workflowDraft(name, spec, { ...status, state, reviewedBy: 'user:ada' });
  const context = { actor: 'user:ada', reason: 'approve', requestId: 'r' };
  await kit.services.store.commit(workspace, [{ op: 'update', record, revision }], context);
}

describe('workflows that were cut short', () => {
  it.each(['approved', 'executing'] as const)('carries on one that was left %s, once', async (state) => {
    await using kit = await buildKit();
    const { workspace, id } = await pendingWorkflow(kit);
    await leaveIn(kit, workspace, id, state);
    expect(await resumeWorkflows(kit.services, workspace)).toBe(1);
    expect((await findWorkflow(kit.services, workspace, id)).status).toMatchObject({
      state: 'executed',
      reviewedBy: 'user:ada',
    });
    expect([...(await kit.services.states.current(workspace)).policies.keys()]).toEqual(['only-to-db']);
    expect(await resumeWorkflows(kit.services, workspace)).toBe(0);
  });

  it('is executed by one of two that try at the same time', async () => {
    await using kit = await buildKit();
    const { workspace, id } = await pendingWorkflow(kit);
    await leaveIn(kit, workspace, id, 'approved');
    const results: WorkflowRecord[] = await Promise.all(
      ['a', 'b', 'c'].map((r) => executeWorkflow(kit.services, workspace, id, r)),
    );
    expect(results.map(({ status }) => status.state)).toEqual(['executed', 'executed', 'executed']);
    const commits = await kit.services.store.commits(workspace, 0, 100);
    expect(commits.filter(({ changes }) => changes.some(({ record }) => record.kind === 'MeshPolicy'))).toHaveLength(1);
  });

  it('leaves one alone that nobody approved', async () => {
    await using kit = await buildKit();
    const { workspace, id } = await pendingWorkflow(kit);
    expect((await executeWorkflow(kit.services, workspace, id, 'r')).status.state).toBe('pending');
  });
});

describe('workflows that wait', () => {
  it('expire after a day, and say when the next one does', async () => {
    await using kit = await buildKit();
    const { workspace, id } = await pendingWorkflow(kit);
    const created = kit.clock.time;
    expect(await expireWorkflows(kit.services, workspace)).toBe(created + DAY_MS);
    kit.clock.time += DAY_MS;
    const late = person('admin', workspace, 'ada');
    await expect(kit.call('approve_workflow', { id }, { as: late, workspace })).rejects.toMatchObject({
      code: 'expired',
    });
    await expireWorkflows(kit.services, workspace);
    expect((await findWorkflow(kit.services, workspace, id)).status.state).toBe('expired');
  });

  it('are remembered when their plans are forgotten', async () => {
    await using kit = await buildKit();
    const { workspace, plan_id, call } = await pendingWorkflow(kit);
    kit.clock.time += 2 * DAY_MS;
    await expireWorkflows(kit.services, workspace);
    await expect(call('apply_network_change', { plan_id })).rejects.toMatchObject({ code: 'not_found' });
    expect((await call('list_workflows', {})).items).toMatchObject([{ planId: plan_id, status: 'expired' }]);
  });
});

it.each<[string, (services: Services) => void]>([
  ['others write all the time', (services) => Object.assign(services, { store: busyStore(services.store) })],
  ['agents compute as much as they may', (services) => Object.assign(services, { computed: tooMuch })],
])('what is approved while %s is not refused, and carried out later', async (_what, hinder) => {
  await using kit = await buildKit();
  const { services } = kit;
  const { workspace, id } = await pendingWorkflow(kit);
  const free = { ...services };
  hinder(services);
  const ada = person('admin', workspace, 'ada');
  const approved = await kit.call('approve_workflow', { id }, { as: ada, workspace });
  expect(approved).toMatchObject({ status: 'executing', error: null });
  Object.assign(services, free);
  await resumeWorkflows(services, workspace);
  expect((await findWorkflow(services, workspace, id)).status.state).toBe('executed');
});

function busyStore(store: Store): Store {
  return {
    ...store,
    commit: (place, ops, context) =>
      context.readSet ? Promise.reject(new StoreError('changed', 'MeshPeer')) : store.commit(place, ops, context),
  };
}

const tooMuch = () => Promise.reject(new MeshError('rate_limited', 'Too much waits.'));
