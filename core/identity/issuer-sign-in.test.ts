import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { buildIssuerKit, CORP, identity, ORIGIN } from '../../test/kits/plane/issuer-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { StoreError } from '../base/ports.ts';
import { findAccount } from './accounts.ts';

const MINUTE_MS = 60_000;

describe('a sign-in at an issuer', () => {
  test('makes the account and the membership of whoever comes first, and both are the same the next time', async () => {
    await using kit = await buildIssuerKit();
    const { token, username } = await kit.signIn(identity('Ada@Example.com', ['operators'], 's1'));
    expect(username).toBe('ada@example.com');
    const me = await kit.call('get_me', {}, { bearer: token });
    expect(me).toMatchObject({ displayName: 'A Person', role: 'user', issuer: 'https://id.example.com' });
    expect(me['workspaces']).toMatchObject([{ slug: 'prod', role: 'operator' }]);
    const again = await kit.signIn(identity('ada@example.com', ['operators'], 's1'));
    expect(await kit.call('get_me', {}, { bearer: again.token })).toMatchObject({ id: me['id'] });
    expect(await kit.events()).toContainEqual(
      expect.objectContaining({ type: 'login', result: 'ok', detail: { issuer: 'corp', subject: 's1' } }),
    );
  });

  test('finds an account by its subject, whatever its address is now, and never by an address', async () => {
    await using kit = await buildIssuerKit();
    const { username } = await kit.signIn(identity('ada@example.com', ['operators'], 's1'));
    const moved = await kit.signIn(identity('lovelace@example.com', ['operators'], 's1'));
    expect(moved.username).toBe(username);
    const other = await kit.signIn(identity('ada@example.com', ['watchers'], 's2'));
    expect(other.username).toBe('ada@example.com-2');
    const elsewhere = await kit.signIn(identity('ada@example.com', [], 's1'), 'open');
    expect(elsewhere.username).toBe('ada@example.com-3');
  });

  test('gets nobody the local account, nor the membership, whose name is their address', async () => {
    await using kit = await buildIssuerKit();
    await kit.person('ada@example.com', 'admin', kit.prod);
    const admin = await kit.admin();
    const member = { username: 'bob@example.com', role: 'admin' };
    await kit.call('set_member', member, { bearer: admin, workspace: kit.prod });
    const ada = await kit.signIn(identity('ada@example.com'), 'open');
    const bob = await kit.signIn(identity('bob@example.com'), 'open');
    expect([ada.username, bob.username]).toEqual(['ada@example.com-2', 'bob@example.com-2']);
    for (const { token } of [ada, bob]) {
      expect((await kit.call('get_me', {}, { bearer: token }))['workspaces']).toEqual([]);
    }
  });

  test.each(['....@....', 'иван@почта.рф'])('makes accounts that can be ended of people at %s', async (address) => {
    await using kit = await buildIssuerKit();
    const signIn = async (subject: string) => (await kit.signIn(identity(address, ['operators'], subject))).username;
    const names = [await signIn('s1'), await signIn('s2')];
    expect(new Set(names).size).toBe(2);
    for (const username of names) {
      const ended = kit.call('delete_user', { username }, { bearer: await kit.admin() });
      expect(await ended).toBeDefined();
      expect(await findAccount(kit.services, username)).toBeUndefined();
    }
  });

  test('gives no user name that is the address of another person', async () => {
    await using kit = await buildIssuerKit();
    for (const address of ['ceo@corp.example.рф', '-ceo@corp.example', 'ceo@corp.example-', 'ćeo@corp.example']) {
      const { username } = await kit.signIn(identity(address, ['operators']));
      expect(username).not.toContain('@');
    }
  });

  test('ends where others keep taking the name', async () => {
    await using kit = await buildIssuerKit();
    const { store } = kit.services;
    vi.spyOn(store, 'commit').mockRejectedValue(new StoreError('already_exists', 'It is there.'));
    expect(await refusalOf(kit.signIn(identity('ada@example.com', ['operators'])))).toBe('conflict');
  });

  test.each([
    ['an address that becomes another one in small letters', { email: 'fran\u212a@example.com' }],
    ['an address that the issuer did not verify', { email_verified: false }],
    ['no word on whether the address was verified', { email_verified: undefined }],
    ['no address', { email: undefined }],
    ['a list in place of an address', { email: ['ada@example.com'] }],
    ['no group that is let in', { groups: ['guests'] }],
  ])('of a person with %s is refused, and makes no account', async (_what, over) => {
    await using kit = await buildIssuerKit();
    const { claims, ...rest } = identity('ada@example.com', ['operators']);
    expect(await refusalOf(kit.signIn({ ...rest, claims: { ...claims, ...over } }))).toBe('forbidden');
    expect(await findAccount(kit.services, 'ada@example.com')).toBeUndefined();
    expect(await kit.events()).toContainEqual(expect.objectContaining({ type: 'login', result: 'refused' }));
  });

  test('that was cut short after it made the account is finished by the next one', async () => {
    await using kit = await buildIssuerKit();
    const { store } = kit.services;
    const { commit } = store;
    store.commit = (workspace, ...rest) =>
      workspace === kit.prod ? Promise.reject(new Error('cut short')) : commit(workspace, ...rest);
    await expect(kit.signIn(identity('ada@example.com', ['operators']))).rejects.toThrow('cut short');
    store.commit = commit;
    const { username } = await kit.signIn(identity('ada@example.com', ['operators']));
    expect([username, await kit.role(username)]).toEqual(['ada@example.com', 'operator']);
  });

  test('of a disabled account is refused', async () => {
    await using kit = await buildIssuerKit();
    const { username } = await kit.signIn(identity('ada@example.com', ['operators']));
    await kit.call('update_user', { username, disabled: true }, { bearer: await kit.admin() });
    expect(await refusalOf(kit.signIn(identity('ada@example.com', ['operators'])))).toBe('forbidden');
  });

  test('goes on once, and in the browser that began it alone', async () => {
    await using kit = await buildIssuerKit();
    const query = await kit.begin();
    expect(await refusalOf(kit.finish(query, 'corp', 'another key'))).toBe('unauthenticated');
    expect((await kit.finish(query)).username).toBe('ada@example.com');
    expect(await refusalOf(kit.finish(query))).toBe('unauthenticated');
  });

  test.each([
    ['a state of another issuer', (query: string) => query, 'open'],
    ['a state that was changed', (query: string) => query.replace('state=W', 'state=X'), 'corp'],
    ['no state', () => '?code=c', 'corp'],
    ['two states', (query: string) => `${query}&${query.slice(1)}`, 'corp'],
  ])('with %s is refused', async (_what, changed, name) => {
    await using kit = await buildIssuerKit();
    expect(await refusalOf(kit.finish(changed(await kit.begin()), name))).toBe('unauthenticated');
  });

  test('that took more than ten minutes is refused', async () => {
    await using kit = await buildIssuerKit();
    const query = await kit.begin();
    kit.clock.time += 10 * MINUTE_MS;
    expect(await refusalOf(kit.finish(query))).toBe('unauthenticated');
  });

  test.each(['https://evil.example', `${ORIGIN}.evil.example`, `${ORIGIN}/path`, 'javascript:alert(1)', 'null'])(
    'does not begin for a page at %s',
    async (origin) => {
      await using kit = await buildIssuerKit();
      expect(await refusalOf(kit.begin('corp', 'a key', origin))).toBe('invalid_input /origin');
    },
  );

  test('needs a browser and a known issuer', async () => {
    await using kit = await buildIssuerKit();
    const begin = (name: string, options = {}) => kit.call('begin_issuer_sign_in', { name, origin: ORIGIN }, options);
    expect(await refusalOf(begin('corp'))).toBe('unauthenticated');
    expect(await refusalOf(begin('other', { browserKey: 'a key' }))).toBe('not_found');
  });
});

describe('memberships by claims', () => {
  test('change with the claims, and end with all that hangs on them once no claim gives them', async () => {
    await using kit = await buildIssuerKit();
    const { token, username } = await kit.signIn(identity('ada@example.com', ['watchers', 'admins']));
    expect(await kit.role(username)).toBe('admin');
    const asAda = { bearer: token, workspace: kit.prod };
    await kit.call('create_agent', { name: 'helper', scopes: ['network:read'] }, asAda);
    await kit.signIn(identity('ada@example.com', ['watchers']));
    expect(await kit.role(username)).toBe('viewer');
    expect(await refusalOf(kit.signIn(identity('ada@example.com', [])))).toBe('forbidden');
    expect(await kit.role(username)).toBeUndefined();
    const { agents } = await kit.services.states.current(kit.prod);
    expect(agents.get('helper')?.status.phase).toBe('Revoked');
  });

  test('keep the role that a person gave until the claims change', async () => {
    await using kit = await buildIssuerKit();
    const { username } = await kit.signIn(identity('ada@example.com', ['watchers']));
    const admin = { bearer: await kit.admin(), workspace: kit.prod };
    await kit.call('set_member', { username, role: 'operator' }, admin);
    await kit.signIn(identity('ada@example.com', ['watchers']));
    expect(await kit.role(username)).toBe('operator');
    await kit.signIn(identity('ada@example.com', ['admins']));
    expect(await kit.role(username)).toBe('admin');
    await kit.signIn(identity('ada@example.com', [])).catch(() => undefined);
    expect(await kit.role(username)).toBeUndefined();
  });

  test('make nobody an approver where a second person approves who decides', async () => {
    await using kit = await buildIssuerKit();
    const admin = { bearer: await kit.admin(), workspace: kit.prod };
    await kit.call('update_workspace', { settings: { requireApproval: true, selfApproval: true } }, admin);
    const { username } = await kit.signIn(identity('ada@example.com', ['admins']));
    expect(await kit.role(username)).toBe('viewer');
    const entries = await kit.services.store.audit(kit.prod, { limit: 10 });
    expect(entries.map(({ commit }) => commit?.reason)).toContainEqual(
      `made ${username} viewer; admin, as its claims say, is for two persons to give`,
    );
  });

  test('leave the membership that a person made alone', async () => {
    await using kit = await buildIssuerKit();
    const { username } = await kit.signIn(identity('ada@example.com'), 'open');
    const admin = { bearer: await kit.admin(), workspace: kit.prod };
    await kit.call('set_member', { username, role: 'operator' }, admin);
    await kit.signIn(identity('ada@example.com'), 'open');
    expect(await kit.role(username)).toBe('operator');
  });
});

test('a grant to a workspace that does not exist is in the log once, and the others count', async () => {
  const lost = { claim: 'groups', value: 'operators', workspace: 'gone', role: 'viewer' } as const;
  await using kit = await buildIssuerKit({ issuers: [{ ...CORP, grants: [lost, ...CORP.grants] }] });
  const warn = vi.spyOn(kit.services.log, 'warn');
  onTestFinished(() => warn.mockRestore());
  for (const address of ['ada@example.com', 'bob@example.com']) {
    const { username } = await kit.signIn(identity(address, ['operators']));
    expect(await kit.role(username)).toBe('operator');
  }
  const text = 'a grant of an issuer names a workspace that does not exist';
  expect(warn.mock.calls).toEqual([[{ issuer: 'corp', workspace: 'gone' }, text]]);
});

describe('local accounts', () => {
  test('but one are of no use where that is set, and that one on the host alone', async () => {
    await using kit = await buildIssuerKit({ signIn: { onlyLocalAccount: 'admin' } });
    const { token } = await kit.signIn(identity('ada@example.com', ['operators']));
    expect(await kit.call('get_me', {}, { bearer: token })).toMatchObject({ username: 'ada@example.com' });
    const local = await kit.person('bob', 'admin', kit.prod);
    expect(await refusalOf(kit.call('get_me', {}, { bearer: local }))).toBe('unauthenticated');
    const body = { username: 'admin', password: 'first-Admin-pass' };
    const logIn = (options: object) => kit.call('log_in', body, options);
    expect(await refusalOf(logIn({ origin: '192.0.2.1' }))).toBe('unauthenticated');
    expect(await refusalOf(logIn({ isFromHost: false }))).toBe('unauthenticated');
    expect(await logIn({})).toMatchObject({ token: expect.any(String) });
    expect(await kit.call('get_sign_in', {})).toMatchObject({ passwords: false });
  });

  test('of issuers have no password that anybody could set, ask for or guess', async () => {
    await using kit = await buildIssuerKit();
    const { token, username } = await kit.signIn(identity('ada@example.com', ['operators']));
    const admin = { bearer: await kit.admin() };
    const password = 'a password for somebody else 1';
    expect(await refusalOf(kit.call('update_user', { username, password }, admin))).toBe('conflict');
    expect(await refusalOf(kit.call('begin_otp', { password: password }, { bearer: token }))).toBe(
      'invalid_input /password',
    );
    expect(await refusalOf(kit.call('log_in', { username, password }))).toBe('unauthenticated');
  });
});

/** Two accounts with one verified address: `ask` has one of them ask for a change, which another one approves. */
async function twoAccounts() {
  const kit = await buildIssuerKit();
  const admin = { bearer: await kit.admin(), workspace: kit.prod };
  const one = await kit.signIn(identity('ada@example.com', ['operators'], 's1'));
  const other = await kit.signIn(identity('ada@example.com', [], 's9'), 'open');
  await kit.call('set_member', { username: other.username, role: 'operator' }, admin);
  await kit.call('update_workspace', { settings: { requireApproval: true } }, admin);
  const spec = { action: 'DENY', peerSelector: {}, ingress: [{}] };
  const as = (token: string) => ({ bearer: token, workspace: kit.prod });
  const ask = async (token: string) => {
    const { workflow_id: id } = await kit.call('create_policy', { name: 'shut', spec }, as(token));
    return (approver: string) => kit.call('approve_workflow', { id }, as(approver));
  };
  return { ...kit, admin, one, other, ask };
}

test('two accounts with one verified address are one person where two have to decide', async () => {
  await using kit = await twoAccounts();
  const approve = await kit.ask(kit.one.token);
  expect(await refusalOf(approve(kit.one.token))).toBe('forbidden');
  expect(await refusalOf(approve(kit.other.token))).toBe('forbidden');
  expect(await approve(kit.admin.bearer)).toMatchObject({ status: 'executed' });
  const accounts = await kit.services.store.list(SYSTEM_WORKSPACE, 'Account');
  expect(accounts.items).toHaveLength(3);
});

test.each([
  ['who approves', 's9', 'open'],
  ['who asked', 's1', 'corp'],
])('they stay one person whatever verified address %s has since', async (_what, subject, issuer) => {
  await using kit = await twoAccounts();
  const approve = await kit.ask(kit.one.token);
  for (const address of ['eve@example.com', 'lovelace@example.com']) {
    await kit.signIn(identity(address, ['operators'], subject), issuer);
    expect(await refusalOf(approve(kit.other.token))).toBe('forbidden');
  }
  expect(await approve(kit.admin.bearer)).toMatchObject({ status: 'executed' });
});

test('an account has at most 20 addresses, and may go back to each', async () => {
  await using kit = await buildIssuerKit();
  const signIn = (count: number) => kit.signIn(identity(`ada${count}@example.com`, ['operators'], 's1'));
  for (let count = 1; count <= 20; count += 1) await signIn(count);
  expect(await refusalOf(signIn(21))).toBe('forbidden');
  expect((await signIn(1)).username).toBe('ada1@example.com');
  expect((await findAccount(kit.services, 'ada1@example.com'))?.spec.issued?.formerAddresses).toHaveLength(19);
});
