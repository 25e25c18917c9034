import { describe, expect, test } from 'vitest';
import { buildScene, reachOf } from '../../test/authority/scene.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { draftOf, type RecordDraft } from '../base/record.ts';
import { type AccountSpec, findAccount } from '../identity/accounts.ts';
import { findWorkflow } from '../model/workflow-records.ts';
import { executeWorkflow } from '../workflow/execute.ts';

const HOUR = 3_600_000;
const CONTEXT = { actor: 'system:test', reason: 'test', requestId: 'r_test' };
const SCOPES = ['network:read', 'network:write', 'intents:plan', 'intents:apply'] as const;
const DENY = { action: 'DENY', peerSelector: { peers: ['web-1'] }, ingress: [{}] };
const INTENT = 'let role=web reach role=db on port 5432';

type Scene = Awaited<ReturnType<typeof buildScene>>;

/** Every way to ask for what waits until a person has approved it. @returns the workflow */
const ASKS: Readonly<Record<string, (scene: Scene, bearer: string) => Promise<string>>> = {
  'a call that is held': async (scene, bearer) =>
    (await scene.call(bearer, 'delete_peer', { id: 'secret-1' })).workflow_id,
  'a write': async (scene, bearer) =>
    (await scene.call(bearer, 'create_policy', { name: 'late', spec: DENY })).workflow_id,
  'a plan that it applies': async (scene, bearer) => {
    const { plan_id } = await scene.call(bearer, 'plan_network_change', { intent: INTENT });
    return (await scene.call(bearer, 'apply_network_change', { plan_id, approved_by: 'grace' })).workflow_id;
  },
  'a plan that another person applies': async (scene, bearer) => {
    const { plan_id } = await scene.call(bearer, 'plan_network_change', { intent: INTENT });
    const linus = await scene.kit.person('linus', 'operator', scene.workspace);
    return (await scene.call(linus, 'apply_network_change', { plan_id, approved_by: 'grace' })).workflow_id;
  },
};

const pass = async ({ kit }: Scene, ms: number) => {
  kit.clock.time += ms;
};

/** Writes the account as a person with the right to it does, whose call would have to be approved itself. */
const changeAccount =
  (change: (spec: AccountSpec) => Partial<AccountSpec>) =>
  async ({ kit }: Scene): Promise<void> => {
    const account = await findAccount(kit.services, 'op');
    if (!account) throw new Error('no account');
    const record = { ...draftOf(account), spec: { ...account.spec, ...change(account.spec) } };
    await update(kit, SYSTEM_WORKSPACE, record, account.revision);
  };

const changePassword = changeAccount(({ epoch }) => ({ epoch: epoch + 1 }));

async function lowerRole({ kit, workspace }: Scene): Promise<void> {
  const member = await kit.services.store.get(workspace, { kind: 'Member', name: 'op' });
  if (!member) throw new Error('no member');
  await update(kit, workspace, { ...draftOf(member), spec: { role: 'viewer' } }, member.revision);
}

async function revokePeer({ kit, workspace }: Scene): Promise<void> {
  const peer = await kit.services.store.get(workspace, { kind: 'MeshPeer', name: 'kid' });
  if (!peer) throw new Error('no peer');
  await update(kit, workspace, { ...draftOf(peer), status: { ...peer.status, phase: 'revoked' } }, peer.revision);
}

async function update(kit: Scene['kit'], partition: string, record: RecordDraft, revision: number): Promise<void> {
  await kit.services.store.commit(partition, [{ op: 'update', record, revision }], CONTEXT);
}

type Way = (scene: Scene, caller: { readonly bearer: string; readonly id: string }) => unknown;

const PERSON: Readonly<Record<string, Way>> = {
  'is of a person who is disabled': changeAccount(() => ({ disabled: true })),
  'is of a person who may only read by now': lowerRole,
};
/** Who asks, the ways in which that ends what they asked for, and those in which it does not. */
const CALLERS: Readonly<
  Record<
    string,
    {
      readonly make: (scene: Scene) => Promise<{ readonly bearer: string; readonly id: string }>;
      readonly asks: readonly string[];
      readonly ends: Readonly<Record<string, Way>>;
      readonly stays: Readonly<Record<string, Way>>;
    }
  >
> = {
  'an API token': {
    async make(scene) {
      const session = await scene.kit.person('op', 'operator', scene.workspace);
      const asked = { name: 'ci', scopes: SCOPES, expiry: '2h' };
      const { id, token } = await scene.call(session, 'create_api_token', asked);
      return { id, bearer: token };
    },
    asks: Object.keys(ASKS),
    ends: {
      ...PERSON,
      'is revoked': async ({ kit, call }, { id }) => call(await kit.sessionOf('op'), 'revoke_api_token', { id }),
      'has expired': (scene) => pass(scene, 3 * HOUR),
      'is of a person whose password was changed': changePassword,
    },
    stays: { 'goes on': () => undefined },
  },
  'a session': {
    make: async ({ kit, workspace }) => ({ id: '', bearer: await kit.person('op', 'operator', workspace) }),
    asks: Object.keys(ASKS),
    ends: PERSON,
    stays: {
      'has logged out': ({ call }, { bearer }) => call(bearer, 'log_out'),
      'has expired': (scene) => pass(scene, 13 * HOUR),
      'is of a person whose password was changed': changePassword,
    },
  },
  'a root agent': {
    async make(scene) {
      const { id, token } = await scene.agent('boss', SCOPES, { ttl: '2h', reach: reachOf('web') });
      return { id, bearer: token };
    },
    asks: Object.keys(ASKS),
    ends: {
      'is revoked': ({ call, ada }) => call(ada, 'revoke_agent', { id: 'boss' }),
      'has expired': (scene) => pass(scene, 3 * HOUR),
    },
    stays: { 'has another token by now': ({ call, ada }) => call(ada, 'renew_agent', { id: 'boss' }) },
  },
  'a sub-agent': {
    async make(scene) {
      const reach = reachOf('db', 5432);
      const boss = await scene.agent('boss', [...SCOPES, 'agents:delegate'], { ttl: '2h', reach });
      const { id, token } = await scene.child(boss.token, 'kid', SCOPES, { policyPreset: 'inherit' });
      return { id, bearer: token };
    },
    asks: ['a plan that it applies', 'a plan that another person applies'],
    ends: {
      'is revoked': ({ call, ada }) => call(ada, 'revoke_agent', { id: 'kid' }),
      'has a root that is revoked': ({ call, ada }) => call(ada, 'revoke_agent', { id: 'boss' }),
      'has expired': (scene) => pass(scene, HOUR),
      'has a peer that is revoked': revokePeer,
    },
    stays: { 'goes on': () => undefined },
  },
};

const casesOf = (outcome: 'ends' | 'stays') =>
  Object.entries(CALLERS).flatMap(([caller, { asks, ...ways }]) =>
    Object.keys(ways[outcome]).flatMap((way) => asks.map((ask) => [caller, way, ask] as const)),
  );

/** A scene in which somebody has asked for what waits. */
async function asked(caller: string, ask: string) {
  const scene = await buildScene();
  const made = await CALLERS[caller]?.make(scene);
  if (!made) throw new Error('no caller');
  await scene.call(scene.ada, 'update_workspace', { settings: { requireApproval: true } });
  const id = (await ASKS[ask]?.(scene, made.bearer)) ?? '';
  const workflow = await findWorkflow(scene.kit.services, scene.workspace, id);
  expect(workflow.status.state).toBe('pending');
  const before = await recordsOf(scene);
  return { scene, made, workflow, before };
}

async function recordsOf(scene: Scene): Promise<string[]> {
  const { peers, policies } = await scene.state();
  return [...peers.keys(), ...policies.keys()].toSorted();
}

/** What becomes of what a person approves once who asked for it is no more what it was. */
async function approvedAfter(outcome: 'ends' | 'stays', [caller, way, ask]: readonly [string, string, string]) {
  const { scene, made, workflow, before } = await asked(caller, ask);
  await using kit = scene.kit;
  const { name: id } = workflow;
  await CALLERS[caller]?.[outcome][way]?.(scene, made);
  const ended = await recordsOf(scene);
  await scene.call(await kit.sessionOf('grace'), 'approve_workflow', { id }).catch(onlyConflict);
  const { status } = await findWorkflow(kit.services, scene.workspace, id);
  return { status, before, ended, after: await recordsOf(scene) };
}

/** What ended has expired already. */
function onlyConflict(error: unknown): void {
  expect(error).toMatchObject({ code: 'conflict' });
}

describe('what waits for approval when who asked for it has ended is not carried out', () => {
  test.each(casesOf('ends'))('%s that %s had asked by %s', async (...one) => {
    const { status, ended, after } = await approvedAfter('ends', one);
    expect(status.state).toMatch(/^(failed|expired)$/);
    expect(after).toEqual(ended);
  });

  test.each(casesOf('stays'))('but %s that %s and had asked by %s is answered', async (...one) => {
    const { status, before, after } = await approvedAfter('stays', one);
    expect(status).toMatchObject({ state: 'executed' });
    expect(after).not.toEqual(before);
  });
});

/** Ends of agents that come before an execution or after it, as both have the turn of the workspace. */
const HAS_A_TURN: ReadonlySet<string> = new Set([
  'a root agent that is revoked',
  'a sub-agent that is revoked',
  'a sub-agent that has a root that is revoked',
]);

describe('who ends while what they asked for is computed has nothing carried out', () => {
  const ways = Object.entries(CALLERS).flatMap(([caller, { ends }]) =>
    Object.keys(ends)
      .filter((way) => !HAS_A_TURN.has(`${caller} that ${way}`))
      .map((way) => [caller, way] as const),
  );
  test.each(ways)('%s that %s', async (caller, way) => {
    const { scene, made, workflow } = await asked(caller, 'a plan that it applies');
    await using kit = scene.kit;
    const { services } = kit;
    const approved = { ...draftOf(workflow), status: { state: 'approved', reviewedBy: 'user:grace' } } as const;
    await update(kit, scene.workspace, approved, workflow.revision);
    let ended: string[] = [];
    const computed: typeof services.computed = async (...args) => {
      const answer = await services.computed(...args);
      await CALLERS[caller]?.ends[way]?.(scene, made);
      ended = await recordsOf(scene);
      return answer;
    };
    await executeWorkflow({ ...services, computed }, scene.workspace, workflow.name, 'r_test').catch(() => undefined);
    const { status } = await findWorkflow(services, scene.workspace, workflow.name);
    expect(status.state).not.toBe('executed');
    expect(await recordsOf(scene)).toEqual(ended);
  });
});
