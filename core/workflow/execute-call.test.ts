import { expect, it } from 'vitest';
import { agent, buildKit, person } from '../../test/kits/plane/kit.ts';
import { policy } from '../../test/kits/records/records.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';
import { MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import { type Store, StoreError } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import { findWorkflow } from '../model/workflow-records.ts';
import { executeCall } from './execute-call.ts';
import type { Services } from './services.ts';
import { workflowDraft } from './workflow-record.ts';

const WHY = { actor: 'user:ada', reason: 'test', requestId: 'r' };

/** A workflow that a person has approved, and a call that makes a policy. */
async function scene() {
  const kit = await buildKit();
  const { services } = kit;
  const workspace = await kit.workspace();
  await seedPeers(services, workspace, { 'web-1': { role: 'web' }, 'db-1': { role: 'db' } });
  const asker = agent(['network:read', 'intents:plan', 'intents:apply'], workspace);
  const call = (name: string, raw: Record<string, unknown>) =>
    kit.call(name, raw, { as: asker, workspace, face: 'mcp' });
  const { plan_id } = await call('plan_network_change', { intent: 'let web reach db and nobody else' });
  const { workflow_id: id } = await call('apply_network_change', { plan_id });
  const become = async (state: 'approved' | 'executed') => {
    const { name, spec, status, revision } = await findWorkflow(services, workspace, id);
    const record = workflowDraft(name, spec, { ...status, state, reviewedBy: 'user:bob' });
    await services.store.commit(workspace, [{ op: 'update', record, revision }], WHY);
    return findWorkflow(services, workspace, id);
  };
  const record = draftOf(policy('made', { action: 'DENY', peerSelector: {} }));
  const run = ({ services: { store } }: CallContext<Services>) =>
    serialized(store, workspace, () =>
      store.commit(workspace, [{ op: 'create', record }], { ...WHY, isApproved: true }),
    );
  const context = (store: Store): CallContext<Services> => ({
    services: { ...services, store },
    caller: person('admin', workspace, 'ada'),
    workspace,
    requestId: 'r',
    face: 'rest',
    origin: '',
    signal: new AbortController().signal,
  });
  return { kit, store: services.store, workspace, id, become, run, context };
}

it('a commit that met another writer says again, with what it writes, that the call was carried out', async () => {
  const { kit, store, workspace, id, become, run, context } = await scene();
  await using _ = kit;
  const approved = await become('approved');
  let meets = 1;
  const met: Store = {
    ...store,
    commit: (...args) =>
      meets-- > 0 ? Promise.reject(new StoreError('conflict', 'MeshPolicy')) : store.commit(...args),
  };
  const { revision } = await executeCall(context(met), [approved], run);
  const workflow = await findWorkflow(kit.services, workspace, id);
  expect([workflow.status.state, workflow.revision]).toEqual(['executed', revision]);
});

it('a call that another control plane carried out meanwhile is not carried out again, nor written as failed', async () => {
  const { kit, store, workspace, id, become, run, context } = await scene();
  await using _ = kit;
  const approved = await become('approved');
  await become('executed');
  const refusal = await executeCall(context(store), [approved], run).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(MeshError);
  expect((refusal as MeshError).message).toBe(
    `The workflow ${id} is executed by now, and was not carried out again: look at it.`,
  );
  expect((await findWorkflow(kit.services, workspace, id)).status.state).toBe('executed');
  expect(await store.get(workspace, { kind: 'MeshPolicy', name: 'made' })).toBeUndefined();
});

it('a call of which another control plane said meanwhile that it is carried out has not failed where it was begun', async () => {
  const { kit, store, workspace, id, become, run, context } = await scene();
  await using _ = kit;
  const approved = await become('approved');
  const other = await kit.workspace('other');
  await store.commit(other, [{ op: 'create', record: { ...draftOf(approved), uid: newId('wf') } }], WHY);
  const there = await findWorkflow(kit.services, other, id);
  const refusal = await executeCall(context(store), [approved, there], async (held) => {
    await run(held);
    const record = { ...draftOf(there), status: { ...there.status, state: 'executed' } } as const;
    await store.commit(other, [{ op: 'update', record, revision: there.revision }], WHY);
    await held.services.store.commit(other, [], WHY);
  }).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: 'conflict', message: expect.stringContaining('is executed by now') });
  const states = await Promise.all([workspace, other].map((one) => findWorkflow(kit.services, one, id)));
  expect(states.map(({ status }) => status.state)).toEqual(['executed', 'executed']);
});
