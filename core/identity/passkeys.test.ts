import { describe, expect, it } from 'vitest';
import { codeOf } from '../../test/kits/http/second-factor.ts';
import { newAuthenticator } from '../../test/kits/plane/authenticator.ts';
import { ADMIN_PASSWORD } from '../../test/kits/plane/identity-kit.ts';
import { buildPasskeyKit, ORIGIN } from '../../test/kits/plane/passkey-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const MINUTE_MS = 60_000;
const SIGNS_NOBODY_IN = {
  code: 'unauthenticated',
  message: expect.stringContaining('This passkey signs nobody in here'),
};

/** The administrator with one passkey. */
async function withPasskey(options: Parameters<typeof buildPasskeyKit>[0] = {}) {
  const kit = await buildPasskeyKit(options);
  const bearer = await kit.admin();
  return { ...kit, bearer, ...(await kit.addPasskey(bearer)) };
}

describe('adding a passkey', () => {
  it('takes the password, gives recovery codes with the first factor, and ends other sessions', async () => {
    await using kit = await buildPasskeyKit();
    const [bearer, other] = [await kit.admin(), await kit.admin()];
    expect(await refusalOf(kit.call('begin_passkey', { origin: ORIGIN }, { bearer }))).toBe('invalid_input /password');
    const wrong = kit.call('begin_passkey', { origin: ORIGIN, password: 'not it' }, { bearer });
    expect(await refusalOf(wrong)).toBe('invalid_input /password');
    const { authenticator, recoveryCodes } = await kit.addPasskey(bearer, { name: 'Firefox on Linux' });
    expect(recoveryCodes).toHaveLength(10);
    expect(await kit.call('get_otp_state', {}, { bearer })).toMatchObject({
      enrolled: false,
      recoveryCodesLeft: 10,
      passkeys: [{ id: authenticator.id, name: 'Firefox on Linux', host: 'mesh.example.com' }],
    });
    expect(await refusalOf(kit.call('get_me', {}, { bearer: other }))).toBe('unauthenticated');
  });

  it('takes the factor that there is besides the password, or a passkey alone, and gives no second set of codes', async () => {
    await using kit = await withPasskey();
    const { bearer, authenticator } = kit;
    const byPassword = kit.call('begin_passkey', { origin: ORIGIN, password: ADMIN_PASSWORD }, { bearer });
    expect(await refusalOf(byPassword)).toBe('invalid_input /otp');
    const second = await kit.addPasskey(bearer, { proof: { passkey: await kit.show(authenticator) } });
    expect(second.recoveryCodes).toEqual([]);
    const proof = { password: ADMIN_PASSWORD, otp: kit.recoveryCodes[0] };
    await kit.addPasskey(bearer, { proof });
    expect(await refusalOf(kit.addPasskey(bearer, { proof }))).toBe('invalid_input /otp');
  });

  it('is refused in another session, on another page, a second time, without its person, and after five minutes', async () => {
    await using kit = await buildPasskeyKit();
    const bearer = await kit.admin();
    const begin = async () => {
      const raw = { origin: ORIGIN, password: ADMIN_PASSWORD };
      return (await kit.call<{ challenge: string }>('begin_passkey', raw, { bearer })).challenge;
    };
    const authenticator = newAuthenticator({ origin: ORIGIN });
    const add = (ceremony: Parameters<typeof authenticator.create>[0], as = bearer) =>
      kit.call('add_passkey', { name: 'Key', passkey: authenticator.create(ceremony) }, { bearer: as });
    const challenge = await begin();
    expect(await refusalOf(add({ challenge }, await kit.admin()))).toBe('invalid_input /passkey');
    const others = [
      { origin: 'https://evil.example.com' },
      { host: 'example.com' },
      { isVerified: false },
      { challenge: await kit.challengeOf() },
    ];
    for (const one of others) expect(await refusalOf(add({ challenge, ...one }))).toBe('invalid_input /passkey');
    await add({ challenge });
    expect(await refusalOf(add({ challenge }))).toBe('invalid_input /passkey');
    await using fresh = await buildPasskeyKit();
    const own = await fresh.admin();
    const raw = { origin: ORIGIN, password: ADMIN_PASSWORD };
    const late = await fresh.call<{ challenge: string }>('begin_passkey', raw, { bearer: own });
    fresh.clock.time += 5 * MINUTE_MS;
    const passkey = authenticator.create(late);
    const adding = fresh.call('add_passkey', { name: 'Key', passkey }, { bearer: own });
    expect(await refusalOf(adding)).toBe('invalid_input /passkey');
  });

  it('is refused under an IP address or a foreign name, and allowed as localhost', async () => {
    await using kit = await buildPasskeyKit();
    for (const origin of [
      'https://10.0.0.1',
      'http://127.0.0.1:18090',
      'http://[::1]:18090',
      'https://evil.example.com',
    ])
      expect(await refusalOf(kit.challengeOf(origin))).toBe('invalid_input /origin');
    expect(await kit.challengeOf('http://localhost:18090')).toEqual(expect.any(String));
  });

  it('is refused past ten, and for a credential that any account has', async () => {
    await using kit = await withPasskey();
    const { bearer } = kit;
    const proof = async () => ({ passkey: await kit.show(kit.authenticator) });
    const again = kit.addPasskey(bearer, { id: kit.authenticator.id, proof: await proof() });
    expect(await refusalOf(again)).toMatch(/^conflict/);
    for (let count = 1; count < 10; count += 1) await kit.addPasskey(bearer, { proof: await proof() });
    expect(await refusalOf(kit.addPasskey(bearer, { proof: await proof() }))).toMatch(/^conflict/);
  });
});

describe('signing in by a passkey alone', () => {
  it('takes no name, no password and no code, and is recorded as any sign-in', async () => {
    await using kit = await withPasskey();
    const { token, username } = await kit.enter(kit.authenticator);
    expect(username).toBe('admin');
    expect(await kit.call('get_me', {}, { bearer: token })).toMatchObject({ username: 'admin' });
    expect((await kit.events()).at(-1)).toMatchObject({
      type: 'login',
      actor: 'user:admin',
      result: 'ok',
      detail: { by: 'passkey' },
    });
  });

  it('is refused in the same words for another origin, another host, an unverified person, and an unknown passkey', async () => {
    await using kit = await withPasskey({ publicUrls: [ORIGIN, 'https://other.example.com'] });
    const { authenticator } = kit;
    const stranger = newAuthenticator({ origin: ORIGIN });
    const refused = [
      kit.enter(authenticator, { origin: 'https://evil.example.com' }),
      kit.enter(authenticator, { origin: 'https://other.example.com' }),
      kit.enter(authenticator, { host: 'example.com' }),
      kit.enter(authenticator, { isVerified: false }),
      kit.enter(stranger),
      kit.enter(newAuthenticator({ origin: ORIGIN, id: authenticator.id })),
    ];
    for (const one of await Promise.allSettled(refused)) {
      expect(one).toMatchObject({ status: 'rejected', reason: SIGNS_NOBODY_IN });
    }
    expect((await kit.events()).at(-1)).toMatchObject({ type: 'login', result: 'refused' });
  });

  it('is refused within a page of somebody else', async () => {
    await using kit = await withPasskey();
    await expect(kit.enter(kit.authenticator, { crossOrigin: true })).rejects.toMatchObject(SIGNS_NOBODY_IN);
    await kit.enter(kit.authenticator);
  });

  it('takes a challenge once, and for five minutes', async () => {
    await using kit = await withPasskey();
    const challenge = await kit.challengeOf();
    await kit.enter(kit.authenticator, { challenge });
    await expect(kit.enter(kit.authenticator, { challenge })).rejects.toMatchObject(SIGNS_NOBODY_IN);
    const late = await kit.challengeOf();
    kit.clock.time += 5 * MINUTE_MS;
    await expect(kit.enter(kit.authenticator, { challenge: late })).rejects.toMatchObject(SIGNS_NOBODY_IN);
    await expect(kit.enter(kit.authenticator, { challenge: 'bWFkZSB1cA' })).rejects.toMatchObject(SIGNS_NOBODY_IN);
  });

  it('takes a challenge of any control plane with the same keys, and of no other', async () => {
    await using kit = await withPasskey();
    await using twin = await buildPasskeyKit({ keys: kit.services.keys });
    await kit.enter(kit.authenticator, { challenge: await twin.challengeOf() });
    await using other = await buildPasskeyKit();
    const challenge = await other.challengeOf();
    await expect(kit.enter(kit.authenticator, { challenge })).rejects.toMatchObject(SIGNS_NOBODY_IN);
  });

  it('refuses a counter that does not rise, and takes authenticators that do not count', async () => {
    await using kit = await withPasskey();
    const { authenticator } = kit;
    await kit.enter(authenticator);
    authenticator.counting.counter -= 1;
    await expect(kit.enter(authenticator)).rejects.toMatchObject(SIGNS_NOBODY_IN);
    await kit.enter(authenticator);
    const proof = { passkey: await kit.show(authenticator) };
    const other = await kit.addPasskey(kit.bearer, { counts: false, proof });
    await kit.enter(other.authenticator);
    await kit.enter(other.authenticator);
  });

  it('is refused for a removed passkey, a disabled account, and one that has to change its password', async () => {
    await using kit = await withPasskey();
    const { bearer, authenticator } = kit;
    await kit.call('create_user', { username: 'bob', password: 'given to bob 1' }, { bearer });
    const bob = await kit.loginWithOwn('bob', 'the own of bob 2');
    const own = await kit.addPasskey(bob, { proof: { password: 'the own of bob 2' } });
    await kit.enter(own.authenticator);
    await kit.call('update_user', { username: 'bob', password: 'given to bob 3' }, { bearer });
    await expect(kit.enter(own.authenticator)).rejects.toMatchObject({ code: 'forbidden' });
    await kit.call('update_user', { username: 'bob', disabled: true }, { bearer });
    await expect(kit.enter(own.authenticator)).rejects.toMatchObject(SIGNS_NOBODY_IN);
    const proof = { passkey: await kit.show(authenticator) };
    await kit.call('remove_passkey', { id: authenticator.id, ...proof }, { bearer });
    await expect(kit.enter(authenticator)).rejects.toMatchObject(SIGNS_NOBODY_IN);
  });

  it('is left to the account and the host that passwords are left to', async () => {
    const signIn = { onlyLocalAccount: 'admin' };
    await using kit = await withPasskey({ signIn });
    const passkey = await kit.show(kit.authenticator);
    const remote = kit.call('log_in_with_passkey', { passkey }, { origin: '203.0.113.7' });
    await expect(remote).rejects.toMatchObject(SIGNS_NOBODY_IN);
    await kit.enter(kit.authenticator);
  });

  it('tells nobody whether a password is right that lets nobody in', async () => {
    const refusals = async (password: string) => {
      await using kit = await withPasskey({ signIn: { onlyLocalAccount: 'admin' } });
      const told = [];
      for (let tries = 0; tries < 12; tries += 1) {
        const raw = { username: 'admin', password, otp: '000000' };
        told.push(await refusalOf(kit.call('log_in', raw, { origin: `203.0.${tries}.7` })));
      }
      return told;
    };
    expect(await refusals(ADMIN_PASSWORD)).toEqual(await refusals('wrong'));
  });

  it('counts towards the limits of its account, and never more than a minute of unknown passkeys', async () => {
    await using kit = await withPasskey();
    for (let tries = 0; tries < 5; tries += 1) await refusalOf(kit.login('admin', 'wrong'));
    expect(await refusalOf(kit.enter(kit.authenticator))).toBe('rate_limited');
    kit.clock.time += MINUTE_MS;
    await kit.enter(kit.authenticator);
    const refusals = [];
    for (let tries = 0; tries < 31; tries += 1)
      refusals.push(await refusalOf(kit.enter(newAuthenticator({ origin: ORIGIN }))));
    expect(refusals.at(29)).toBe('unauthenticated');
    expect(refusals.at(30)).toBe('rate_limited');
  });
});

describe('a passkey as second factor', () => {
  it('signs in beside the password, which alone is not enough any more', async () => {
    await using kit = await withPasskey();
    const { authenticator } = kit;
    const login = (more: object = {}, password = ADMIN_PASSWORD) =>
      kit.call<{ token: string }>('log_in', { username: 'admin', password, ...more });
    expect(await refusalOf(login())).toBe('otp_required');
    expect(await refusalOf(login({ otp: '000000' }))).toBe('otp_required');
    expect(await refusalOf(login({ passkey: await kit.show(newAuthenticator({ origin: ORIGIN })) }))).toBe(
      'otp_required',
    );
    expect(await refusalOf(login({ passkey: await kit.show(authenticator) }, 'wrong'))).toBe('unauthenticated');
    const passkey = await kit.show(authenticator);
    await login({ passkey });
    expect((await kit.events()).at(-1)).toMatchObject({ result: 'ok', detail: { secondFactor: 'passkey' } });
    kit.clock.time += MINUTE_MS;
    expect(await refusalOf(login({ passkey }))).toBe('otp_required');
    await login({ otp: kit.recoveryCodes[0] });
  });

  it('of one account opens no other', async () => {
    await using kit = await withPasskey();
    await kit.call('create_user', { username: 'bob', password: 'given to bob 1' }, { bearer: kit.bearer });
    const bob = await kit.loginWithOwn('bob', 'the own of bob 2');
    const { authenticator } = await kit.addPasskey(bob, { proof: { password: 'the own of bob 2' } });
    const body = { username: 'admin', password: ADMIN_PASSWORD, passkey: await kit.show(authenticator) };
    expect(await refusalOf(kit.call('log_in', body))).toBe('otp_required');
  });

  it('is enough where administrators must have one', async () => {
    await using kit = await buildPasskeyKit({ signIn: { secondFactor: 'administrators' } });
    const bearer = await kit.login('admin', ADMIN_PASSWORD);
    expect(await refusalOf(kit.call('list_users', {}, { bearer }))).toBe('second_factor_required');
    const { authenticator } = await kit.addPasskey(bearer);
    expect(await kit.call('list_users', {}, { bearer })).toMatchObject({ items: [{ secondFactor: true }] });
    const { token } = await kit.enter(authenticator);
    expect(await kit.call('get_me', {}, { bearer: token })).toMatchObject({ username: 'admin' });
  });

  it('goes with its recovery codes when the last is removed, by who proves it or by a reset', async () => {
    await using kit = await withPasskey();
    const { bearer, authenticator } = kit;
    const { id } = authenticator;
    const remove = (proof: object) => kit.call('remove_passkey', { id, ...proof }, { bearer });
    expect(await refusalOf(remove({}))).toBe('invalid_input /password');
    expect(await refusalOf(remove({ password: ADMIN_PASSWORD }))).toBe('invalid_input /otp');
    await remove({ password: ADMIN_PASSWORD, otp: kit.recoveryCodes[0] });
    expect(await kit.call('get_otp_state', {}, { bearer })).toMatchObject({ recoveryCodesLeft: 0, passkeys: [] });
    await kit.login('admin', ADMIN_PASSWORD);
    await kit.call('create_user', { username: 'bob', password: 'given to bob 1' }, { bearer });
    const bob = await kit.loginWithOwn('bob', 'the own of bob 2');
    const own = await kit.addPasskey(bob, { id, proof: { password: 'the own of bob 2' } });
    await kit.call('reset_otp', { username: 'bob' }, { bearer });
    await expect(kit.enter(own.authenticator)).rejects.toMatchObject(SIGNS_NOBODY_IN);
  });

  it('approves where a workspace asks for a code', async () => {
    await using kit = await withPasskey();
    const workspace = await kit.workspace('prod');
    await kit.haveSettings(workspace, { requireApproval: true, approvalCode: true, selfApproval: true });
    const ada = await kit.person('ada', 'operator', workspace);
    const raw = { name: 'shut', spec: { action: 'DENY', peerSelector: {} } };
    const { workflow_id: id } = await kit.call('create_policy', raw, { bearer: ada, workspace });
    const approve = (more: object) => kit.call('approve_workflow', { id, ...more }, { bearer: kit.bearer, workspace });
    expect(await refusalOf(approve({}))).toBe('invalid_input /otp');
    const other = newAuthenticator({ origin: ORIGIN });
    expect(await refusalOf(approve({ passkey: await kit.show(other) }))).toBe('invalid_input /passkey');
    expect(await approve({ passkey: await kit.show(kit.authenticator) })).toMatchObject({ status: 'executed' });
  });

  it('adds an authenticator app with a recovery code, keeps the codes, and stays when the app goes', async () => {
    await using kit = await withPasskey();
    const { bearer, authenticator, recoveryCodes } = kit;
    const begin = (more: object) => kit.call('begin_otp', { password: ADMIN_PASSWORD, ...more }, { bearer });
    expect(await refusalOf(begin({}))).toBe('invalid_input /otp');
    const { secret } = await begin({ otp: recoveryCodes[0] });
    const code = codeOf(String(secret), kit.clock.time);
    expect(await kit.call('confirm_otp', { code }, { bearer })).toEqual({ recoveryCodes: [] });
    const state = () => kit.call('get_otp_state', {}, { bearer });
    expect(await state()).toMatchObject({ enrolled: true, recoveryCodesLeft: 9, passkeys: [{ id: authenticator.id }] });
    await kit.call('disable_otp', { passkey: await kit.show(authenticator) }, { bearer });
    expect(await state()).toMatchObject({
      enrolled: false,
      recoveryCodesLeft: 9,
      passkeys: [{ id: authenticator.id }],
    });
    await kit.enter(authenticator);
  });
});
