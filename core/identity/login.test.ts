import { describe, expect, it } from 'vitest';
import { ADMIN_PASSWORD, buildIdentityKit, START } from '../../test/kits/plane/identity-kit.ts';
import { changePassword } from '../../tools/users/change-password.ts';
import { logIn } from '../../tools/users/log-in.ts';
import { logOut } from '../../tools/users/log-out.ts';
import { addWorkspace } from '../../tools/workspaces/add-workspace.ts';
import { StoreError } from '../base/ports.ts';
import { BUILT_IN_PASSWORD, firstLoginToken } from './first-accounts.ts';
import { verifyPassword } from './passwords.ts';

const REMOTE = '203.0.113.7';
const NEW_PASSWORD = 'a Better one 42';

describe('logging in', () => {
  it('answers a session for 12 hours that says the initial password has to be changed', async () => {
    await using kit = await buildIdentityKit({ isUnchanged: true });
    const answer = await kit.call(logIn, { username: 'Admin', password: ADMIN_PASSWORD }, { origin: REMOTE });
    expect(answer).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expiresAt: new Date(START + 12 * 3_600_000).toISOString(),
      passwordChangeRequired: true,
    });
  });

  it('answers an unknown user and a wrong password with the same words', async () => {
    await using kit = await buildIdentityKit();
    const problem = { code: 'unauthenticated', message: 'The user name or the password is wrong.' };
    await expect(kit.login('nobody', ADMIN_PASSWORD)).rejects.toMatchObject(problem);
    await expect(kit.login('admin', 'not the password')).rejects.toMatchObject(problem);
  });

  it('refuses the sixth guess of a minute and lets the next one in when the minute is over', async () => {
    await using kit = await buildIdentityKit();
    for (let guess = 1; guess <= 5; guess += 1) {
      await expect(kit.login('admin', `guess ${guess}`)).rejects.toMatchObject({ code: 'unauthenticated' });
      kit.clock.time += 1_000;
    }
    const limited = { code: 'rate_limited', details: { retryAfterSeconds: 55 } };
    await expect(kit.login('admin', ADMIN_PASSWORD)).rejects.toMatchObject(limited);
    kit.clock.time += 55_000;
    await expect(kit.login('admin', ADMIN_PASSWORD)).resolves.toEqual(expect.any(String));
  });

  it('counts parallel guesses before it looks at them', async () => {
    await using kit = await buildIdentityKit();
    const guesses = await Promise.allSettled(Array.from({ length: 12 }, (_, i) => kit.login('admin', `guess ${i}`)));
    const codes = guesses.map((guess) => (guess.status === 'rejected' ? guess.reason.code : 'in'));
    expect(codes.filter((code) => code === 'unauthenticated')).toHaveLength(5);
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(7);
  });

  it('does not count logins that succeed', async () => {
    await using kit = await buildIdentityKit();
    for (let turn = 0; turn < 8; turn += 1) await kit.login('admin', ADMIN_PASSWORD);
    expect((await kit.events()).filter(({ result }) => result === 'refused')).toEqual([]);
  });

  it('does not count the right password where no session could be written', async () => {
    await using kit = await buildIdentityKit();
    const { store } = kit.services;
    const commit = store.commit;
    Object.assign(store, { commit: () => Promise.reject(new StoreError('unavailable', 'The disk is full.')) });
    for (let turn = 0; turn < 8; turn += 1) {
      await expect(kit.login('admin', ADMIN_PASSWORD, REMOTE)).rejects.toMatchObject({ code: 'unavailable' });
    }
    Object.assign(store, { commit });
    await expect(kit.login('admin', ADMIN_PASSWORD, REMOTE)).resolves.toEqual(expect.any(String));
  });

  it('does not count a password that was turned away since too many waited', async () => {
    await using kit = await buildIdentityKit();
    let isOver = false;
    const flood = Array.from({ length: 34 }, async (_, i) => {
      while (!isOver) await verifyPassword('x', undefined, { isKnown: false, source: `flood ${i}` });
    });
    for (let turn = 0; turn < 8; turn += 1) {
      await expect(kit.login('admin', ADMIN_PASSWORD, REMOTE)).rejects.toThrow('Too many logins at once');
    }
    isOver = true;
    await Promise.all(flood);
    for (let guess = 0; guess < 5; guess += 1) {
      await expect(kit.login('admin', `guess ${guess}`, REMOTE)).rejects.toMatchObject({ code: 'unauthenticated' });
    }
  });

  it('records failed logins one by one and counts what the limit refused', async () => {
    await using kit = await buildIdentityKit();
    for (let guess = 0; guess < 9; guess += 1) await kit.login('admin', 'wrong', REMOTE).catch(() => {});
    await kit.gate.flushRefusals();
    const failed = {
      type: 'login',
      actor: 'user:admin',
      result: 'refused',
      origin: REMOTE,
      detail: { reason: 'The user name or the password is wrong.' },
      requestId: expect.stringMatching(/^r_/),
    };
    expect(await kit.events()).toEqual([
      ...Array.from({ length: 5 }, () => failed),
      {
        type: 'refused',
        actor: 'anonymous',
        result: 'refused',
        origin: REMOTE,
        detail: {
          operation: 'log_in',
          code: 'rate_limited',
          reason: 'Too many failed logins: try again in 60 seconds.',
          count: 4,
          seconds: 0,
        },
      },
    ]);
  });
});

describe('the built-in password', () => {
  it('works from loopback only, and there for root and the user of the control plane', async () => {
    await using kit = await buildIdentityKit({ initAdmins: false });
    await expect(kit.login('admin', BUILT_IN_PASSWORD, REMOTE)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(kit.login('admin', BUILT_IN_PASSWORD, '::ffff:127.0.0.1')).resolves.toEqual(expect.any(String));
    const raw = { username: 'admin', password: BUILT_IN_PASSWORD };
    await expect(kit.call(logIn, raw, { origin: '127.0.0.1', isFromHost: false })).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('first-login-token'),
    });
  });

  it.each([
    ['proxy 127.0.0.1', 'this request came through a proxy'],
    [REMOTE, `this request came from ${REMOTE}`],
    ['127.0.0.1', 'this request came from another user or container'],
  ])('that is refused from %s is refused with that for a reason', async (origin, message) => {
    await using kit = await buildIdentityKit({ initAdmins: false });
    const raw = { username: 'admin', password: BUILT_IN_PASSWORD };
    await expect(kit.call(logIn, raw, { origin, isFromHost: false })).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining(message),
    });
  });

  it('gives way to the token of the first login from everywhere, until a password is chosen', async () => {
    await using kit = await buildIdentityKit({ initAdmins: false });
    const token = firstLoginToken(kit.services.keys).reveal();
    await expect(kit.login('admin', `${token}x`, REMOTE)).rejects.toMatchObject({ code: 'unauthenticated' });
    const bearer = await kit.login('admin', token, REMOTE);
    const as = { bearer, origin: REMOTE, isFromHost: false };
    await expect(kit.call('list_users', {}, as)).rejects.toMatchObject({ code: 'password_change_required' });
    const wrong = { oldPassword: 'another', newPassword: NEW_PASSWORD };
    await expect(kit.call(changePassword, wrong, as)).rejects.toMatchObject({ code: 'invalid_input' });
    expect(await kit.call(changePassword, { oldPassword: token, newPassword: NEW_PASSWORD }, as)).toEqual({
      changed: true,
    });
    await expect(kit.login('admin', token, REMOTE)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await kit.login('admin', NEW_PASSWORD, REMOTE)).toEqual(expect.any(String));
  });

  it('has a token that opens no account with a password of its own, initial or chosen', async () => {
    for (const isUnchanged of [true, false]) {
      await using kit = await buildIdentityKit({ isUnchanged });
      const token = firstLoginToken(kit.services.keys).reveal();
      await expect(kit.login('admin', token)).rejects.toMatchObject({ code: 'unauthenticated' });
    }
  });

  it('is good for nothing but choosing another, and its session ends with that', async () => {
    await using kit = await buildIdentityKit({ initAdmins: false });
    const bearer = await kit.login('admin', BUILT_IN_PASSWORD);
    const workspace = { slug: 'prod', namespace: 'prod', displayName: 'Production', maxNodeCount: 10 };
    await expect(kit.call(addWorkspace, workspace, { bearer })).rejects.toMatchObject({
      code: 'password_change_required',
    });
    const passwords = { oldPassword: BUILT_IN_PASSWORD, newPassword: NEW_PASSWORD };
    expect(await kit.call(changePassword, passwords, { bearer })).toEqual({ changed: true });
    await expect(kit.call(addWorkspace, workspace, { bearer })).rejects.toMatchObject({ code: 'unauthenticated' });

    const session = await kit.call(logIn, { username: 'admin', password: NEW_PASSWORD }, { origin: REMOTE });
    expect(session).toMatchObject({ passwordChangeRequired: false });
    expect(await kit.call(addWorkspace, workspace, { bearer: String(session['token']) })).toMatchObject({
      slug: 'prod',
    });
  });
});

describe('a password that somebody else set', () => {
  const INITIAL = 'given to ada 1';
  const TAKEN = { slug: 'prod', namespace: 'prod', displayName: 'Production', maxNodeCount: 10 };

  /** Sessions with each kind of password that its person has not chosen, with that password. */
  async function sessionsOf(kind: 'of app.initAdmins' | 'initial' | 'reset') {
    const kit = await buildIdentityKit({ isUnchanged: kind === 'of app.initAdmins' });
    if (kind === 'of app.initAdmins') return { kit, password: ADMIN_PASSWORD, username: 'admin' };
    const bearer = await kit.admin();
    const role = 'platform_admin';
    await kit.call('create_user', { username: 'ada', password: INITIAL, role }, { bearer });
    if (kind === 'initial') return { kit, password: INITIAL, username: 'ada' };
    await kit.loginWithOwn('ada', 'chosen by ada 1');
    await kit.call('update_user', { username: 'ada', password: INITIAL }, { bearer });
    return { kit, password: INITIAL, username: 'ada' };
  }

  it.each(['of app.initAdmins', 'initial', 'reset'] as const)(
    '(%s) opens its own change, who one is, and the way out, and nothing else',
    async (kind) => {
      const { kit, password, username } = await sessionsOf(kind);
      await using _ = kit;
      const bearer = await kit.login(username, password, REMOTE);
      const as = { bearer, origin: REMOTE };
      for (const face of ['rest', 'mcp'] as const) {
        for (const [operation, raw] of [
          ['add_workspace', TAKEN],
          ['list_users', {}],
          ['create_api_token', { name: 'ci', scopes: [] }],
          ['begin_otp', { password }],
          ['list_sessions', {}],
        ] as const) {
          await expect(kit.call(operation, raw, { ...as, face })).rejects.toMatchObject({
            code: 'password_change_required',
          });
        }
      }
      expect(await kit.call('get_me', {}, as)).toMatchObject({
        username,
        passwordChangeRequired: true,
        workspaces: [],
      });
      expect(await kit.call(logOut, {}, as)).toEqual({ ended: true });

      const again = await kit.login(username, password, REMOTE);
      const passwords = { oldPassword: password, newPassword: NEW_PASSWORD };
      expect(await kit.call(changePassword, passwords, { bearer: again, origin: REMOTE })).toEqual({ changed: true });
      const own = await kit.login(username, NEW_PASSWORD, REMOTE);
      expect(await kit.call(addWorkspace, TAKEN, { bearer: own })).toMatchObject({ slug: 'prod' });
    },
  );
});

describe('changing the password', () => {
  it('ends every session of the account and no other', async () => {
    await using kit = await buildIdentityKit();
    const ada = await kit.person('ada');
    const [one, two] = [await kit.admin(), await kit.admin()];
    const passwords = { oldPassword: ADMIN_PASSWORD, newPassword: NEW_PASSWORD };
    await kit.call(changePassword, passwords, { bearer: one });
    for (const bearer of [one, two]) {
      await expect(kit.gate.authenticate(bearer, REMOTE)).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    await expect(kit.gate.authenticate(ada, REMOTE)).resolves.toMatchObject({ name: 'ada' });
    await expect(kit.login('admin', ADMIN_PASSWORD)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it.each([
    ['a wrong old password', { oldPassword: 'no', newPassword: NEW_PASSWORD }, '/oldPassword'],
    ['the old one again', { oldPassword: ADMIN_PASSWORD, newPassword: ADMIN_PASSWORD }, '/newPassword'],
    ['a short one', { oldPassword: ADMIN_PASSWORD, newPassword: 'Short1!' }, '/newPassword'],
    ['a common one', { oldPassword: ADMIN_PASSWORD, newPassword: 'Password123' }, '/newPassword'],
    ['the user name', { oldPassword: ADMIN_PASSWORD, newPassword: 'admin123' }, '/newPassword'],
    ['one repeated letter', { oldPassword: ADMIN_PASSWORD, newPassword: 'aaaaaaaaaaaa' }, '/newPassword'],
  ])('refuses %s and keeps the session', async (_what, passwords, pointer) => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    await expect(kit.call(changePassword, passwords, { bearer })).rejects.toMatchObject({
      code: 'invalid_input',
      details: { errors: [{ pointer }] },
    });
    await expect(kit.gate.authenticate(bearer, REMOTE)).resolves.toMatchObject({ name: 'admin' });
  });
});

describe('logging out', () => {
  it('ends that session at once', async () => {
    await using kit = await buildIdentityKit();
    const [one, two] = [await kit.admin(), await kit.admin()];
    expect(await kit.call(logOut, {}, { bearer: one })).toEqual({ ended: true });
    await expect(kit.gate.authenticate(one, REMOTE)).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(kit.gate.authenticate(two, REMOTE)).resolves.toMatchObject({ name: 'admin' });
  });

  it('is not needed after 12 hours', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    kit.clock.time += 12 * 3_600_000 - 1;
    await expect(kit.gate.authenticate(bearer, REMOTE)).resolves.toMatchObject({ name: 'admin' });
    kit.clock.time += 1;
    await expect(kit.gate.authenticate(bearer, REMOTE)).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});
