import { describe, expect, it } from 'vitest';
import { buildKit, type Kit, person } from '../../test/kits/plane/kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';
import { assertionDraft } from '../assertions/assertion.ts';
import type { Caller } from '../base/caller.ts';
import { newId } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import type { NetworkChange } from '../changes/changes.ts';
import { servicesFor } from '../write/pipeline.ts';
import type { Services } from './services.ts';
import { submitChanges } from './submit.ts';

const CLOSE_ALL: NetworkChange = {
  action: 'create',
  resource: 'MeshPolicy',
  name: 'base',
  spec: { action: 'DENY', peerSelector: {} },
};

async function scene(kit: Kit, requireApproval = false) {
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, { 'web-1': { role: 'web' }, 'db-1': { role: 'db' } });
  const admin = person('admin', workspace, 'ada');
  if (requireApproval) {
    await kit.call(
      'update_workspace',
      { settings: { requireApproval: true } },
      { as: person('platform_admin', workspace), workspace },
    );
  }
  const context: CallContext<Services> = {
    services: servicesFor(kit.services, { caller: admin }),
    caller: admin,
    workspace,
    requestId: newId('r'),
    face: 'rest',
    origin: '127.0.0.1',
    signal: AbortSignal.timeout(10_000),
  };
  return { workspace, admin, context };
}

describe('a direct write', () => {
  it('is committed at once and recorded as direct, without an approval', async () => {
    await using kit = await buildKit();
    const { workspace, context } = await scene(kit);
    expect(await submitChanges(context, [CLOSE_ALL], 'created policy base')).toMatchObject({ status: 'committed' });
    const commit = (await kit.services.store.commits(workspace, 0, 100)).at(-1);
    expect(commit).toMatchObject({ actor: 'user:ada', reason: 'created policy base', direct: true });
    expect(commit?.approval).toBeUndefined();
  });

  it('waits for another person where the workspace asks for approval', async () => {
    await using kit = await buildKit();
    const { workspace, context } = await scene(kit, true);
    const submitted = await submitChanges(context, [CLOSE_ALL], 'created policy base');
    if (submitted.status !== 'pending_approval') throw new Error('it was committed');
    expect((await kit.services.states.current(workspace)).policies.size).toBe(0);
    const id = submitted.workflow_id;
    const approved = await kit.call(
      'approve_workflow',
      { id },
      { as: person('operator', workspace, 'bob'), workspace },
    );
    expect(approved).toMatchObject({
      status: 'executed',
      requestedBy: 'user:ada',
      reviewedBy: 'user:bob',
      planId: null,
    });
    const commit = (await kit.services.store.commits(workspace, 0, 100)).at(-1);
    expect(commit).toMatchObject({ approval: { workflowId: id, reviewedBy: 'user:bob' } });
    expect(commit?.direct).toBeUndefined();
  });

  it('that would break a standing assertion is refused and writes nothing', async () => {
    await using kit = await buildKit();
    const { workspace, context } = await scene(kit);
    const spec = { src: 'web-1', dst: 'db-1', protocol: 'TCP', port: 5432, expect: 'reachable' } as const;
    const record = assertionDraft('web-to-db', spec);
    await kit.services.store.commit(workspace, [{ op: 'create', record }], {
      actor: 'user:ada',
      reason: 'assert',
      requestId: 'r',
    });
    await expect(submitChanges(context, [CLOSE_ALL], 'close')).rejects.toMatchObject({
      code: 'policy_assertion_failed',
      details: {
        failures: [{ name: 'web-to-db', from: 'web-1', to: 'db-1', reason_code: 'EGRESS_ISOLATED', policy: 'base' }],
      },
    });
    expect((await kit.services.states.current(workspace)).policies.size).toBe(0);
  });
});

describe('on its way, a direct write', () => {
  it.each([false, true])('reads each record and asks each stage once; with requireApproval: %s', async (asks) => {
    await using kit = await buildKit();
    const { context, admin } = await scene(kit, asks);
    const trace: string[] = [];
    const { store, states } = kit.services;
    const noting: typeof kit.services = {
      ...kit.services,
      store: {
        ...store,
        async get(workspace, key, asOf) {
          trace.push(`read ${key.kind} ${key.name}`);
          return store.get(workspace, key, asOf);
        },
        async getById(workspace, kind, id) {
          trace.push(`read ${kind}`);
          return store.getById(workspace, kind, id);
        },
        async list(workspace, kind, asOf) {
          trace.push(`list ${kind}`);
          return store.list(workspace, kind, asOf);
        },
        async commit(workspace, ops, why) {
          trace.push('commit');
          return store.commit(workspace, ops, why);
        },
      },
      states: {
        ...states,
        async current(workspace) {
          trace.push('state');
          return states.current(workspace);
        },
      },
      async computed(computation, input, asker) {
        trace.push(computation.name);
        return kit.services.computed(computation, input, asker);
      },
    };
    const caller: Caller = {
      ...admin,
      async again() {
        trace.push('standing');
        return caller;
      },
    };
    const services = servicesFor(noting, { caller });
    const { status } = await submitChanges({ ...context, services, caller }, [CLOSE_ALL], 'created policy base');
    const end = asks ? ['state', 'assess_proposal'] : ['read Member ada', 'standing', 'commit', 'state'];
    const judged = ['state', 'list PolicyAssertion', 'standing', 'read MeshPolicy base', 'read Workspace'];
    expect(trace.slice(0, judged.length + end.length)).toEqual([...judged, ...end]);
    expect(status).toBe(asks ? 'pending_approval' : 'committed');
  });
});
