import { expect, it } from 'vitest';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { StoreError } from '../../core/base/ports.ts';
import { draftOf } from '../../core/base/record.ts';
import { findAccount } from '../../core/identity/accounts.ts';
import { expireWorkflows, resumeWorkflows } from '../../core/workflow/upkeep.ts';
import { CONTEXT, START } from '../kits/plane/identity-kit.ts';
import { buildScene } from './scene.ts';

const DAY_MS = 24 * 3_600_000;

/** What the administrator asks of the account of grace, who may approve in two workspaces: ada is asked in one, linus in the other. */
async function asked(name: string, raw: Record<string, unknown>) {
  const scene = await buildScene({ requireApproval: true });
  const { kit, admin, ada, workspace } = scene;
  const second = await kit.workspace('second');
  const linus = await kit.person('linus', 'admin', second);
  const there = (bearer: string, operation: string, more: Record<string, unknown>) =>
    kit.call<{ workflow_id: string }>({ name: operation }, more, { bearer, workspace: second });
  await there(admin, 'set_member', { username: 'grace', role: 'admin' });
  await there(admin, 'update_workspace', { settings: { requireApproval: true } });
  const answer = await scene.call(admin, name, raw);
  const { message } = answer;
  const waiting = async (place: string) => {
    const { items } = await kit.services.store.list(place, 'Workflow');
    const found = items.find(({ name: id }) => message.includes(id));
    if (!found) throw new Error('nothing waits');
    return found;
  };
  const [one, two] = [(await waiting(workspace)).name, (await waiting(second)).name];
  const { summary } = await scene.call(ada, 'get_workflow', { id: one });
  return {
    kit,
    workspace,
    async deleteSecond() {
      const { workflow_id: id } = await there(admin, 'delete_workspace', {});
      await there(linus, 'approve_workflow', { id });
    },
    answer,
    message,
    summary,
    ids: [one, two] as const,
    ask: (operation: string, more: Record<string, unknown>) => scene.call(admin, operation, more),
    all: async () => {
      const lists = await Promise.all([workspace, second].map((place) => kit.services.store.list(place, 'Workflow')));
      return lists.flatMap(({ items }) => items.map(({ name: id }) => id));
    },
    rejections: [
      () => scene.call(ada, 'reject_workflow', { id: one }),
      () => there(linus, 'reject_workflow', { id: two }),
    ] as const,
    read: () => scene.call(ada, 'get_workflow', { id: one }),
    approvals: [
      () => scene.call(ada, 'approve_workflow', { id: one }),
      () => there(linus, 'approve_workflow', { id: two }),
    ] as const,
    states: async () => [(await waiting(workspace)).status.state, (await waiting(second)).status.state],
    expire: async () => {
      for (const place of [workspace, second]) await expireWorkflows(kit.services, place);
    },
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  };
}

it.each([
  // Before it is said that all has ended, or the account goes, it says that it is leaving.
  ['disabled', 'update_user', { username: 'grace', disabled: true }, 2],
  ['deleted', 'delete_user', { username: 'grace' }, 2],
  ['made an administrator', 'update_user', { username: 'grace', role: 'platform_admin' }, 1],
])(
  'an account is %s once where the people of two workspaces approve that at the same moment',
  async (_what, name, raw, writes) => {
    await using scene = await asked(name, raw);
    await Promise.all(scene.approvals.map((approve) => approve()));
    expect(await scene.states()).toEqual(['executed', 'executed']);
    const { store } = scene.kit.services;
    const commits = await store.audit(SYSTEM_WORKSPACE, { type: 'commit', kind: 'Account', limit: 200 });
    expect(commits.filter(({ commit }) => commit?.approval !== undefined)).toHaveLength(writes);
  },
);

it.each([
  ['update_user', { disabled: true }, 'disables the account grace and ends its agents'],
  ['delete_user', {}, 'deletes the account grace and ends its agents'],
  ['delete_user', { successor: 'ada' }, 'deletes the account grace and gives its agents to ada'],
])('who decides on %s %j reads that it %s', async (name, more, said) => {
  await using scene = await asked(name, { username: 'grace', ...more });
  expect(scene.message).toContain(`(${said})`);
  expect(scene.summary).toContain(`: ${said}`);
});

it('an account whose deletion waits is not asked for again with another successor, until that is rejected', async () => {
  await using scene = await asked('delete_user', { username: 'grace' });
  const waiting = await scene.all();
  const again = { username: 'Grace', successor: 'ada' };
  await expect(scene.ask('delete_user', again)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(
      /^Delete an account: that is asked already of grace, by user:admin, and waits as wf_\w+ in the workspace prod\. Have/,
    ),
  });
  expect(await scene.all()).toEqual(waiting);
  // The same again is the same call.
  expect(await scene.ask('delete_user', { username: 'grace' })).toEqual(scene.answer);
  for (const reject of scene.rejections) await reject();
  const { message } = await scene.ask('delete_user', again);
  expect(message).toContain('gives its agents to ada');
});

it('who asks is told each workflow with its workspace', async () => {
  await using scene = await asked('delete_user', { username: 'grace' });
  const [one, two] = scene.ids;
  expect(scene.answer.workflows).toEqual([
    { workflow_id: one, workspace: 'prod' },
    { workflow_id: two, workspace: 'second' },
  ]);
  expect(scene.message).toContain(`approve ${one} in the workspace prod and ${two} in the workspace second (`);
});

it('who approves reads that another workspace still decides, before and after, and not which', async () => {
  await using scene = await asked('delete_user', { username: 'grace' });
  const awaits = 'The people of another workspace have to approve it too, and have not yet.';
  expect(await scene.read()).toMatchObject({ status: 'pending', awaits });
  expect(await scene.approvals[0]()).toMatchObject({ status: 'approved', awaits });
  expect(JSON.stringify(await scene.read())).not.toContain('second');
  await scene.approvals[1]();
  expect(await scene.read()).toMatchObject({ status: 'executed', awaits: null });
});

it('who approves a call with a secret reads that it has to be sent again, once nobody else decides', async () => {
  await using scene = await asked('update_user', { username: 'grace', password: 'Another-pass-1' });
  const [elsewhere, again] = [
    /^The people of another workspace .* Who asked/,
    /^Who asked for it has to send the call/,
  ];
  expect((await scene.approvals[0]()).awaits).toMatch(elsewhere);
  await scene.approvals[1]();
  expect((await scene.read()).awaits).toMatch(again);
});

it('the audit log says to whom the agents of a deleted account pass, of the decision and of what follows', async () => {
  await using scene = await asked('delete_user', { username: 'grace', successor: 'ada' });
  await Promise.all(scene.approvals.map((approve) => approve()));
  const { store } = scene.kit.services;
  const reasons = (await store.audit(SYSTEM_WORKSPACE, { type: 'commit', kind: 'Account', limit: 200 })).map(
    ({ commit }) => commit?.reason,
  );
  const said = 'deleted account grace, and gave its agents to ada';
  expect(reasons.filter((reason) => reason === said)).toHaveLength(2);
});

it('what the people of one workspace approved and those of another never decided ends with its time', async () => {
  await using scene = await asked('delete_user', { username: 'grace' });
  await scene.approvals[0]();
  await scene.expire();
  expect(await scene.states()).toEqual(['approved', 'pending']);
  scene.kit.clock.time += DAY_MS;
  await scene.expire();
  expect(await scene.states()).toEqual(['expired', 'expired']);
});

it('what the people of one workspace approved is carried out once that of the others, who had not decided, is deleted', async () => {
  await using scene = await asked('delete_user', { username: 'grace' });
  await scene.approvals[0]();
  await resumeWorkflows(scene.kit.services, scene.workspace);
  expect(await scene.states()).toEqual(['approved', 'pending']);
  await scene.deleteSecond();
  await resumeWorkflows(scene.kit.services, scene.workspace);
  expect(await scene.states()).toEqual(['executed', 'pending']);
  expect(await findAccount(scene.kit.services, 'grace')).toBeUndefined();
});

it('an approved change of an account that is leaving is not said to be done once what it left is, and no more', async () => {
  await using scene = await buildScene();
  const { store } = scene.kit.services;
  const grace = async () => {
    const account = await findAccount(scene.kit.services, 'grace');
    if (!account) throw new Error('There is no grace.');
    return account;
  };
  const disabledIs = async (disabled: boolean, rest: object) => {
    const { revision, ...account } = await grace();
    const record = { ...draftOf({ ...account, revision }), spec: { ...account.spec, disabled, ...rest } };
    await store.commit(SYSTEM_WORKSPACE, [{ op: 'update', record, revision }], CONTEXT);
  };
  await scene.call(scene.grace, 'generate_join_token', { name: 'laptops' });
  await scene.call(scene.ada, 'update_workspace', { settings: { requireApproval: true } });
  await disabledIs(true, {});
  const { workflow_id: id } = await scene.call(scene.admin, 'update_user', { username: 'grace', disabled: false });
  await disabledIs(true, { leaving: { to: 'disabled', since: START } });

  const commit = store.commit.bind(store);
  store.commit = async (workspace, ops, context) => {
    const enables = ops.some((op) => op.op === 'update' && op.record.kind === 'Account' && !op.record.spec.disabled);
    if (enables) throw new StoreError('unavailable', 'no primary');
    return commit(workspace, ops, context);
  };
  await scene.call(scene.ada, 'approve_workflow', { id }).catch(() => undefined);
  expect((await grace()).spec).toMatchObject({ disabled: true });
  store.commit = commit;
  await resumeWorkflows(scene.kit.services, scene.workspace);
  expect((await grace()).spec).toMatchObject({ disabled: false });
  expect(await scene.call(scene.ada, 'get_workflow', { id })).toMatchObject({ status: 'executed', error: null });
});
