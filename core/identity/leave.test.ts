import { expect, test } from 'vitest';
import { buildPeopleKit, CONTEXT } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { StoreError } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { WriteQueue } from '../base/write-queue.ts';
import { type AccountSpec, findAccount } from './accounts.ts';
import { finishAllLeaving, finishLeaving } from './leave.ts';

const MINUTE_MS = 60_000;

/** Ada has a join token; whatever ended her account has written no more than that. */
async function cutShort(change: Pick<AccountSpec, 'disabled'> & { readonly to: 'disabled' | 'deleted' }) {
  const kit = await buildPeopleKit();
  const { store, clock } = kit.services;
  await kit.ada('generate_join_token', { name: 'laptops' });
  const account = await findAccount(kit.services, 'ada');
  if (!account) throw new TypeError('There is no ada.');
  const leaving = { to: change.to, since: clock.now() };
  const record = { ...draftOf(account), spec: { ...account.spec, disabled: change.disabled, leaving } };
  await store.commit(SYSTEM_WORKSPACE, [{ op: 'update', record, revision: account.revision }], CONTEXT);
  const seen = async () => {
    const now = await findAccount(kit.services, 'ada');
    return {
      account: now && { disabled: now.spec.disabled, isLeaving: now.spec.leaving !== undefined },
      isMember: (await store.get(kit.prod, { kind: 'Member', name: 'ada' })) !== undefined,
      tokens: (await store.list(kit.prod, 'Token')).items.length,
    };
  };
  return { ...kit, seen };
}

const GONE = { account: undefined, isMember: false, tokens: 0 };
const DISABLED = { account: { disabled: true, isLeaving: false }, isMember: true, tokens: 0 };

test('what a call has left is finished after a minute, and a call that is under way is left alone until then', async () => {
  await using kit = await cutShort({ disabled: true, to: 'deleted' });
  const began = kit.clock.time;
  const before = await kit.seen();
  kit.clock.time += MINUTE_MS - 1;
  expect(await finishAllLeaving(kit.services)).toBe(began + MINUTE_MS);
  expect(await kit.seen()).toEqual(before);
  kit.clock.time += 1;
  expect(await finishAllLeaving(kit.services)).toBeUndefined();
  expect(await kit.seen()).toEqual(GONE);
});

test('a deletion that is asked for again is finished at once', async () => {
  await using kit = await cutShort({ disabled: true, to: 'deleted' });
  expect(await kit.root('delete_user', { username: 'ada' })).toEqual({ deleted: true });
  expect(await kit.seen()).toEqual(GONE);
});

test('an account that is about to be deleted is gone for who changes it', async () => {
  await using kit = await cutShort({ disabled: true, to: 'deleted' });
  expect(await refusalOf(kit.root('update_user', { username: 'ada', disabled: false }))).toBe('not_found');
  expect(await kit.seen()).toEqual(GONE);
});

test('an account that is enabled again has nothing left of before', async () => {
  await using kit = await cutShort({ disabled: true, to: 'disabled' });
  await kit.root('update_user', { username: 'ada', disabled: false });
  expect(await kit.seen()).toEqual({ ...DISABLED, account: { disabled: false, isLeaving: false } });
});

test('one that an earlier version, which knows of nothing to finish, has enabled again keeps what it has', async () => {
  await using kit = await cutShort({ disabled: false, to: 'deleted' });
  kit.clock.time += MINUTE_MS;
  await finishAllLeaving(kit.services);
  expect(await kit.seen()).toEqual({ account: { disabled: false, isLeaving: false }, isMember: true, tokens: 1 });
});

test('who is late to finish takes no membership from the next one of that name', async () => {
  await using kit = await cutShort({ disabled: true, to: 'deleted' });
  const late = await findAccount(kit.services, 'ada');
  if (!late) throw new TypeError('There is no ada.');
  await kit.root('delete_user', { username: 'ada' });
  await kit.person('ada', 'viewer', kit.prod);
  await finishLeaving(kit.services, late, CONTEXT);
  expect(await kit.seen()).toMatchObject({ account: { disabled: false }, isMember: true });
});

test('nor where the next one comes while the late one looks', async () => {
  await using kit = await cutShort({ disabled: true, to: 'deleted' });
  const { store } = kit.services;
  const late = await findAccount(kit.services, 'ada');
  if (!late) throw new TypeError('There is no ada.');
  let looks = 0;
  const services = {
    ...kit.services,
    store: {
      ...store,
      // Another control plane finishes late.
      queue: new WriteQueue(),
      getById: (async (...asked) => {
        const found = await store.getById(...asked);
        if (asked[1] === 'Account' && looks++ === 0) {
          await kit.root('delete_user', { username: 'ada' });
          await kit.person('ada', 'viewer', kit.prod);
          await kit.root('set_member', { username: 'ada', role: 'operator' });
        }
        return found;
      }) satisfies typeof store.getById as typeof store.getById,
    },
  };
  await finishLeaving(services, late, CONTEXT);
  expect(await kit.seen()).toMatchObject({ account: { disabled: false }, isMember: true });
});

test.each([
  ['cannot be read', new TypeError('unreadable')],
  ['has a damaged log', new StoreError('lost', 'unreadable')],
])('a workspace that %s keeps neither the others nor other accounts from being left', async (_what, problem) => {
  await using kit = await cutShort({ disabled: true, to: 'disabled' });
  const { store } = kit.services;
  const broken = await kit.workspace('broken');
  const services = {
    ...kit.services,
    store: {
      ...store,
      list: (async (workspace, kind, query) => {
        if (workspace === broken && kind === 'Plan') throw problem;
        return store.list(workspace, kind, query);
      }) satisfies typeof store.list as typeof store.list,
    },
  };
  kit.clock.time += MINUTE_MS;
  await expect(finishAllLeaving(services)).rejects.toThrow('unreadable');
  expect(await kit.seen()).toEqual({ ...DISABLED, account: { disabled: true, isLeaving: true } });
  await finishAllLeaving(kit.services);
  expect(await kit.seen()).toEqual(DISABLED);
});
