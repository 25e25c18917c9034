import { describe, expect, it, vi } from 'vitest';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { StoreError } from '../../core/base/ports.ts';
import { draftOf } from '../../core/base/record.ts';
import { type AccountSpec, findAccount } from '../../core/identity/accounts.ts';
import { finishAllLeaving } from '../../core/identity/leave.ts';
import { expireWorkflows, resumeWorkflows } from '../../core/workflow/upkeep.ts';
import { CONTEXT } from '../kits/plane/identity-kit.ts';
import { buildScene } from './scene.ts';

const PASSWORD = 'Another-pass-1';
const DAY_MS = 86_400_000;
const DELETION = ['delete_user', { username: 'grace' }] as const;

/** One or two workspaces that want another person for what concerns grace, who may approve in each. */
async function scene(others = 0) {
  const base = await buildScene({ requireApproval: true });
  const { kit, admin } = base;
  const { store } = kit.services;
  const workspaces = [base.workspace];
  const linus = await kit.person('linus', 'admin', base.workspace);
  for (let nth = 0; nth < others; nth += 1) {
    const id = await kit.workspace(`more-${nth}`);
    workspaces.push(id);
    const asked = { bearer: admin, workspace: id };
    for (const username of ['grace', 'linus']) await kit.call('set_member', { username, role: 'admin' }, asked);
    await kit.call('update_workspace', { settings: { requireApproval: true } }, asked);
  }
  const commit = store.commit;
  /** From after the first commit of an approved call on to a partition, nothing is written any more. */
  const endsAfter = (partition: string) => {
    let isAway = false;
    return vi.spyOn(store, 'commit').mockImplementation(async (workspace, ops, context) => {
      if (isAway) throw new StoreError('unavailable', 'the process has ended');
      const done = await commit(workspace, ops, context);
      isAway = workspace === partition && context.approval !== undefined && context.reason.match(/approved:/) === null;
      return done;
    });
  };
  const change = async (name: string, change: Partial<AccountSpec>) => {
    const account = await findAccount(kit.services, name);
    if (!account) throw new TypeError('There is no such account.');
    const record = { ...draftOf(account), spec: { ...account.spec, ...change } };
    await commit(SYSTEM_WORKSPACE, [{ op: 'update', record, revision: account.revision }], CONTEXT);
  };
  const workflows = async () =>
    (await Promise.all(workspaces.map((id) => store.list(id, 'Workflow')))).flatMap(({ items }) => items);
  return {
    ...base,
    /** The other workspace, which says first that a call is executed. */
    more: workspaces.at(-1) ?? '',
    endsAfter,
    ask: (name: string, raw: object) => base.call(admin, name, { ...raw }),
    approve: async () => {
      for (const { workspace, name } of await workflows())
        await kit.call('approve_workflow', { id: name }, { bearer: linus, workspace }).catch(() => undefined);
    },
    resume: async () => {
      for (const id of workspaces) await resumeWorkflows(kit.services, id);
    },
    makeAdmin: (name: string) => change(name, { role: 'platform_admin' }),
    disable: (name: string) => change(name, { disabled: true }),
    /** In a later commit than the first of an approved call the store refuses to write in a partition. */
    refusesIn: (partition: string, error: Error) => {
      let isBegun = false;
      return vi.spyOn(store, 'commit').mockImplementation(async (workspace, ops, context) => {
        if (isBegun && workspace === partition && context.reason.match(/^workflow/) === null) throw error;
        const done = await commit(workspace, ops, context);
        isBegun ||= context.approval !== undefined && context.reason.match(/approved:/) === null;
        return done;
      });
    },
    expire: async () => {
      for (const id of workspaces) await expireWorkflows(kit.services, id);
    },
    ended: async () => (await workflows()).map(({ status }) => [status.state, status.error]),
    /** What was written of accounts and workspaces in the name of an approval. */
    done: async () => {
      const entries = await store.audit(SYSTEM_WORKSPACE, { type: 'commit', limit: 500 });
      return entries.filter(({ commit: one }) => one?.approval).map(({ commit: one }) => one?.reason);
    },
  };
}

describe('a control plane that ends after an approved call was done, and before its workflow says so', () => {
  it.each([
    ['update_workspace', { settings: { requireApproval: false } }, 'changed workspace prod'],
    ['update_user', { username: 'grace', role: 'platform_admin' }, 'changed account grace'],
    ['update_user', { username: 'grace', disabled: true }, 'changed account grace'],
    [...DELETION, 'deleted account grace'],
  ])('does not do it again: %s %j', async (name, raw, reason) => {
    await using at = await scene();
    await at.ask(name, raw);
    const killed = at.endsAfter(SYSTEM_WORKSPACE);
    await at.approve();
    killed.mockRestore();
    expect(await at.ended()).toEqual([['approved', undefined]]);
    await at.resume();
    expect(await at.ended()).toEqual([['executed', undefined]]);
    expect(await at.done()).toEqual([reason]);
  });

  it.each(['who asked repeats', 'nobody repeats'])(
    'does not do it again when it has a secret and %s it',
    async (who) => {
      await using at = await scene();
      const call = ['update_user', { username: 'grace', password: PASSWORD }] as const;
      await at.ask(...call);
      await at.approve();
      const killed = at.endsAfter(SYSTEM_WORKSPACE);
      await expect(at.ask(...call)).rejects.toThrow();
      killed.mockRestore();
      const again = 'is executed by now, and was not carried out again';
      if (who === 'who asked repeats') await expect(at.ask(...call)).rejects.toThrow(again);
      else await at.resume();
      expect(await at.ended()).toEqual([['executed', undefined]]);
      expect(await at.done()).toEqual(['changed account grace']);
    },
  );

  it('says that it was executed also when who asked for it has gone by then', async () => {
    await using at = await scene();
    const boss = await at.kit.person('boss');
    await at.makeAdmin('boss');
    await at.call(boss, ...DELETION);
    const killed = at.endsAfter(SYSTEM_WORKSPACE);
    await at.approve();
    killed.mockRestore();
    await at.disable('boss');
    await at.resume();
    expect(await at.ended()).toEqual([['executed', undefined]]);
  });

  it.each([
    ['in none', ['approved', 'approved']],
    ['in one of them', ['approved', 'executed']],
  ])('does not do it again where the people of two workspaces approved it and it says so %s', async (where, left) => {
    await using at = await scene(1);
    await at.ask('update_user', { username: 'grace', role: 'platform_admin' });
    const killed = at.endsAfter(where === 'in none' ? SYSTEM_WORKSPACE : at.more);
    await at.approve();
    killed.mockRestore();
    expect((await at.ended()).map(([state]) => state)).toEqual(left);
    await at.resume();
    const executed = ['executed', undefined];
    expect(await at.ended()).toEqual([executed, executed]);
    expect(await at.done()).toEqual(['changed account grace']);
  });

  it('says that it was executed, and not that it expired, when it is back after more than a day', async () => {
    await using at = await scene();
    await at.ask(...DELETION);
    const killed = at.endsAfter(SYSTEM_WORKSPACE);
    await at.approve();
    killed.mockRestore();
    at.kit.clock.time += 2 * DAY_MS;
    await at.expire();
    expect(await at.ended()).toEqual([['executed', undefined]]);
  });
});

it('a call that was decided and is finished later has not failed', async () => {
  await using at = await scene();
  await at.ask(...DELETION);
  const refuses = at.refusesIn(at.workspace, new StoreError('full', 'the disk'));
  await at.approve();
  refuses.mockRestore();
  at.kit.clock.time += 120_000;
  await finishAllLeaving(at.kit.services);
  await at.resume();
  expect(await at.ended()).toEqual([['executed', undefined]]);
  expect(await findAccount(at.kit.services, 'grace')).toBeUndefined();
});

it('the same call that is asked for again later is another one, and is done', async () => {
  await using at = await scene();
  const rename = (role: string) => at.ask('update_user', { username: 'grace', role });
  await rename('platform_admin');
  await at.approve();
  at.kit.clock.time += 60_000;
  await rename('user');
  await at.approve();
  at.kit.clock.time += 60_000;
  await rename('platform_admin');
  await at.approve();
  expect(await at.ended()).toEqual(Array(3).fill(['executed', undefined]));
  expect(await at.done()).toEqual(Array(3).fill('changed account grace'));
});
