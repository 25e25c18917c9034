import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ADMIN_PASSWORD, buildIdentityKit, type IdentityKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { otpCode, otpStep } from './otp.ts';

const STEP_MS = 30_000;
const REMOTE = '203.0.113.7';
const CODE_NEEDED = { code: 'otp_required', message: expect.stringContaining('send a code') };
const CODE_WRONG = { code: 'otp_required', message: expect.stringContaining('wrong or was used') };

/** What an app does with what it read from the QR code. */
function appOf(uri: string) {
  const digits = [...(new URL(uri).searchParams.get('secret') ?? '')];
  const bits = digits.map((digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'));
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  const secret = Uint8Array.from(bytes.map((byte) => Number.parseInt(byte, 2)));
  return (now: number) => otpCode(secret, otpStep(now));
}

/** The administrator with a second factor; time has gone on, so that the code of the confirmation is not the present one. */
async function enrol(kit: IdentityKit, bearer: string, password = ADMIN_PASSWORD) {
  const begun = await kit.call('begin_otp', { password }, { bearer });
  const app = appOf(String(begun['uri']));
  const confirmed = await kit.call('confirm_otp', { code: app(kit.clock.time) }, { bearer });
  kit.clock.time += STEP_MS;
  return { code: () => app(kit.clock.time), app, recoveryCodes: confirmed['recoveryCodes'] as string[], begun };
}

async function enrolled(options: Parameters<typeof buildIdentityKit>[0] = {}) {
  const kit = await buildIdentityKit(options);
  const bearer = await kit.admin();
  return { ...kit, bearer, ...(await enrol(kit, bearer)) };
}

describe('enrolling', () => {
  it('changes nothing until it is confirmed, and shows its secret and ten recovery codes once', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    const begun = await kit.call('begin_otp', { password: ADMIN_PASSWORD }, { bearer });
    expect(begun).toEqual({
      uri: expect.stringMatching(/^otpauth:\/\/totp\/Mesh%20127\.0\.0\.1%3A18090:admin\?secret=[A-Z2-7]{32}&/),
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      expiresAt: expect.any(String),
    });
    expect(await kit.login('admin', ADMIN_PASSWORD)).toEqual(expect.any(String));
    const code = appOf(String(begun['uri']))(kit.clock.time);
    const { recoveryCodes } = await kit.call<{ recoveryCodes: string[] }>('confirm_otp', { code }, { bearer });
    expect(new Set(recoveryCodes).size).toBe(10);
    for (const each of recoveryCodes) expect(each).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
    const state = await kit.call('get_otp_state', {}, { bearer });
    expect(state).toEqual({
      ...{ enrolled: true, required: false, recoveryCodesLeft: 10, passkeys: [] },
      since: new Date(kit.clock.time).toISOString(),
    });
    const account = JSON.stringify(await kit.services.store.list('w_system', 'Account'));
    const kept = [String(begun['secret']), ...recoveryCodes].filter((secret) => account.includes(secret));
    expect(kept).toEqual([]);
  });

  it('takes the password, whoever has the session', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    expect(await refusalOf(kit.call('begin_otp', { password: 'not it' }, { bearer }))).toBe('invalid_input /password');
    expect(await refusalOf(kit.call('confirm_otp', { code: '000000' }, { bearer }))).toMatch(/^conflict/);
  });

  it('is confirmed from the session that began it, in ten minutes, with a code of its app', async () => {
    await using kit = await buildIdentityKit();
    const [own, other] = [await kit.admin(), await kit.admin()];
    const begun = await kit.call('begin_otp', { password: ADMIN_PASSWORD }, { bearer: own });
    const app = appOf(String(begun['uri']));
    const confirm = (bearer: string, code = app(kit.clock.time)) => kit.call('confirm_otp', { code }, { bearer });
    expect(await refusalOf(confirm(other))).toMatch(/^conflict/);
    const wrong = String((Number(app(kit.clock.time)) + 1) % 1_000_000).padStart(6, '0');
    expect(await refusalOf(confirm(own, wrong))).toBe('invalid_input /code');
    kit.clock.time += 10 * 60_000;
    expect(await refusalOf(confirm(own))).toMatch(/^conflict/);
    await enrol(kit, own);
    expect(await refusalOf(kit.call('begin_otp', { password: ADMIN_PASSWORD }, { bearer: own }))).toMatch(/^conflict/);
  });

  it('ends the other sessions of the account, and no API token, agent or session of others', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const [own, other, ada] = [await kit.admin(), await kit.admin(), await kit.person('ada', 'admin', workspace)];
    const token = await kit.call('create_api_token', { name: 'ci' }, { bearer: own, workspace });
    const agent = await kit.call('create_agent', { name: 'bot', scopes: ['network:read'] }, { bearer: own, workspace });
    await enrol(kit, own);
    for (const bearer of [own, ada, String(token['token']), String(agent['token'])]) {
      await expect(kit.gate.authenticate(bearer, REMOTE)).resolves.toBeDefined();
    }
    await expect(kit.gate.authenticate(other, REMOTE)).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});

describe('signing in with a second factor', () => {
  it('takes the password and a code, and is told to send one only after the right password', async () => {
    await using kit = await enrolled();
    await expect(kit.login('admin', 'wrong')).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(kit.login('admin', 'wrong', REMOTE, kit.code())).rejects.toMatchObject({
      ...{ code: 'unauthenticated', message: 'The user name or the password is wrong.' },
    });
    await expect(kit.login('admin', ADMIN_PASSWORD)).rejects.toMatchObject(CODE_NEEDED);
    expect(await kit.login('admin', ADMIN_PASSWORD, REMOTE, kit.code())).toEqual(expect.any(String));
    const logins = (await kit.events()).filter(({ type }) => type === 'login');
    expect(logins.map(({ result, detail }) => [result, detail])).toEqual([
      ['refused', { reason: 'The user name or the password is wrong.' }],
      ['refused', { reason: 'The user name or the password is wrong.' }],
      ['refused', { reason: 'no code' }],
      ['ok', { secondFactor: 'code' }],
    ]);
  });

  it('is as before for accounts without one, were a code sent', async () => {
    await using kit = await enrolled();
    await kit.call('create_user', { username: 'bob', password: 'given to bob 1' }, { bearer: kit.bearer });
    for (const otp of [{}, { otp: '123456' }]) {
      const answer = await kit.call('log_in', { username: 'bob', password: 'given to bob 1', ...otp });
      expect(Object.keys(answer)).toEqual(['token', 'expiresAt', 'passwordChangeRequired']);
      await expect(kit.call('log_in', { username: 'bob', password: 'wrong', ...otp })).rejects.toMatchObject({
        ...{ code: 'unauthenticated', message: 'The user name or the password is wrong.' },
      });
    }
  });

  it('takes a code once, also where it was the one that confirmed', async () => {
    await using kit = await enrolled();
    const code = kit.code();
    await kit.login('admin', ADMIN_PASSWORD, REMOTE, code);
    await expect(kit.login('admin', ADMIN_PASSWORD, REMOTE, code)).rejects.toMatchObject(CODE_WRONG);
    const confirming = kit.app(kit.clock.time - STEP_MS);
    await expect(kit.login('admin', ADMIN_PASSWORD, REMOTE, confirming)).rejects.toMatchObject(CODE_WRONG);
    kit.clock.time += STEP_MS;
    expect(await kit.login('admin', ADMIN_PASSWORD, REMOTE, kit.code())).toEqual(expect.any(String));
  });

  it('takes a code once of many logins at the same time', async () => {
    await using kit = await enrolled();
    const code = kit.code();
    const origins = Array.from({ length: 6 }, (_, i) => `198.51.100.${i}`);
    const outcomes = await Promise.allSettled(
      origins.map((origin) => kit.login('admin', ADMIN_PASSWORD, origin, code)),
    );
    const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'in')).sort();
    expect(codes).toEqual(['in', ...Array.from({ length: 5 }, () => 'otp_required')]);
  });

  it('takes different recovery codes of many logins at the same time', async () => {
    await using kit = await enrolled();
    const outcomes = await Promise.allSettled(
      kit.recoveryCodes.slice(0, 4).map((code) => kit.login('admin', ADMIN_PASSWORD, REMOTE, code)),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'fulfilled'));
    expect(await kit.call('get_otp_state', {}, { bearer: kit.bearer })).toMatchObject({ recoveryCodesLeft: 6 });
  });

  it('takes a code of half a minute ago and of half a minute ahead, and none further off', async () => {
    for (const [off, outcome] of [
      [-2, 'rejected'],
      [-1, 'fulfilled'],
      [1, 'fulfilled'],
      [2, 'rejected'],
    ] as const) {
      await using kit = await enrolled();
      kit.clock.time += 10 * STEP_MS;
      const [{ status } = { status: '' }] = await Promise.allSettled([
        kit.login('admin', ADMIN_PASSWORD, REMOTE, kit.app(kit.clock.time + off * STEP_MS)),
      ]);
      expect([off, status]).toEqual([off, outcome]);
    }
  });

  it('takes each recovery code once, however it is written', async () => {
    await using kit = await enrolled();
    const [first = '', second = ''] = kit.recoveryCodes;
    expect(await kit.login('admin', ADMIN_PASSWORD, REMOTE, first)).toEqual(expect.any(String));
    await expect(kit.login('admin', ADMIN_PASSWORD, REMOTE, first)).rejects.toMatchObject(CODE_WRONG);
    const retyped = second.replaceAll('-', ' ').toUpperCase();
    expect(await kit.login('admin', ADMIN_PASSWORD, REMOTE, retyped)).toEqual(expect.any(String));
    expect(await kit.call('get_otp_state', {}, { bearer: kit.bearer })).toMatchObject({ recoveryCodesLeft: 8 });
    expect((await kit.events()).at(-1)).toMatchObject({ type: 'login', detail: { secondFactor: 'recovery code' } });
  });

  it('remembers over a restart which codes were used', async () => {
    const home = mkdtempSync(path.join(tmpdir(), 'mesh-otp-'));
    const file = path.join(home, 'mesh.db');
    try {
      const before = await enrolled({ path: file });
      const [code, [recovery = '']] = [before.code(), before.recoveryCodes];
      await before.login('admin', ADMIN_PASSWORD, REMOTE, code);
      await before.login('admin', ADMIN_PASSWORD, REMOTE, recovery);
      const { keys } = before.services;
      const { time } = before.clock;
      await before[Symbol.asyncDispose]();
      await using after = await buildIdentityKit({ path: file, keys, now: time });
      await expect(after.login('admin', ADMIN_PASSWORD, REMOTE, code)).rejects.toMatchObject(CODE_WRONG);
      await expect(after.login('admin', ADMIN_PASSWORD, REMOTE, recovery)).rejects.toMatchObject(CODE_WRONG);
      after.clock.time += STEP_MS;
      const next = before.app(after.clock.time);
      expect(await after.login('admin', ADMIN_PASSWORD, REMOTE, next)).toEqual(expect.any(String));
    } finally {
      rmSync(home, { recursive: true });
    }
  });

  it('says what to do where the keys are others than it was enrolled with', async () => {
    const home = mkdtempSync(path.join(tmpdir(), 'mesh-otp-'));
    const file = path.join(home, 'mesh.db');
    try {
      const before = await enrolled({ path: file });
      const { time } = before.clock;
      await before[Symbol.asyncDispose]();
      await using after = await buildIdentityKit({ path: file, now: time });
      await expect(after.login('admin', ADMIN_PASSWORD, REMOTE, before.code())).rejects.toMatchObject({
        ...{ code: 'unavailable', message: expect.stringContaining('reset-otp') },
      });
      const [recovery = ''] = before.recoveryCodes;
      expect(await after.login('admin', ADMIN_PASSWORD, REMOTE, recovery)).toEqual(expect.any(String));
    } finally {
      rmSync(home, { recursive: true });
    }
  });

  it('locks who guesses codes after ten, though the password is right, and counts no login without a code', async () => {
    await using kit = await enrolled();
    const guess = async (otp?: string) => {
      kit.clock.time += 20_000;
      return kit.login('admin', ADMIN_PASSWORD, REMOTE, otp).catch(({ code }: { code: string }) => code);
    };
    const answers: string[] = [];
    for (let turn = 0; turn < 9; turn += 1) answers.push(await guess('not a code'), await guess());
    expect(new Set(answers)).toEqual(new Set(['otp_required']));
    expect(await guess('not a code')).toBe('otp_required');
    expect(await guess()).toBe('rate_limited');
    kit.clock.time += STEP_MS;
    await expect(kit.login('admin', ADMIN_PASSWORD, REMOTE, kit.code())).rejects.toMatchObject({
      code: 'rate_limited',
    });
    const [recovery = ''] = kit.recoveryCodes;
    await expect(kit.login('admin', ADMIN_PASSWORD, REMOTE, recovery)).rejects.toMatchObject({ code: 'rate_limited' });
    expect(await kit.login('admin', ADMIN_PASSWORD, '127.0.0.1', kit.code())).toEqual(expect.any(String));
    expect((await kit.events()).filter(({ type }) => type === 'account_locked')).toHaveLength(1);
  });

  it('goes on after the password has changed', async () => {
    await using kit = await enrolled();
    const passwords = { oldPassword: ADMIN_PASSWORD, newPassword: 'second-Admin-pass' };
    await kit.call('change_password', passwords, { bearer: kit.bearer });
    await expect(kit.login('admin', 'second-Admin-pass')).rejects.toMatchObject(CODE_NEEDED);
    expect(await kit.login('admin', 'second-Admin-pass', REMOTE, kit.code())).toEqual(expect.any(String));
  });

  it('tells a disabled account nothing of its second factor', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    await kit.call('create_user', { username: 'bob', password: 'given to bob 1' }, { bearer });
    await enrol(kit, await kit.loginWithOwn('bob', 'chosen by bob 1'), 'chosen by bob 1');
    await kit.call('update_user', { username: 'bob', disabled: true }, { bearer });
    await expect(kit.login('bob', 'chosen by bob 1')).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});

describe('taking a second factor away', () => {
  it('takes the password and a code, so a session alone does not', async () => {
    await using kit = await enrolled();
    const { bearer } = kit;
    const disable = (password: string, otp: string) => kit.call('disable_otp', { password, otp }, { bearer });
    expect(await refusalOf(disable('wrong', kit.code()))).toBe('invalid_input /password');
    expect(await refusalOf(disable(ADMIN_PASSWORD, '000 00'))).toBe('invalid_input /otp');
    expect(await disable(ADMIN_PASSWORD, kit.code())).toEqual({ disabled: true });
    expect(await kit.login('admin', ADMIN_PASSWORD)).toEqual(expect.any(String));
    expect(await refusalOf(disable(ADMIN_PASSWORD, kit.code()))).toMatch(/^conflict/);
    expect((await kit.events()).map(({ type }) => type)).toContain('otp_disabled');
  });

  it('locks a session that guesses codes for it', async () => {
    await using kit = await enrolled();
    const { bearer } = kit;
    const guess = () => {
      kit.clock.time += 20_000;
      return refusalOf(kit.call('disable_otp', { password: ADMIN_PASSWORD, otp: 'guess' }, { bearer, origin: REMOTE }));
    };
    for (let turn = 0; turn < 10; turn += 1) expect(await guess()).toBe('invalid_input /otp');
    expect(await guess()).toMatch(/^rate_limited/);
  });

  it('locks it too where the password is changed to itself between the guesses, and tells the log of each', async () => {
    await using kit = await enrolled();
    const { bearer } = kit;
    const guess = () => {
      kit.clock.time += 20_000;
      return refusalOf(kit.call('disable_otp', { password: ADMIN_PASSWORD, otp: 'guess' }, { bearer, origin: REMOTE }));
    };
    const same = { oldPassword: ADMIN_PASSWORD, newPassword: ADMIN_PASSWORD };
    for (let turn = 0; turn < 10; turn += 1) {
      expect(await guess()).toBe('invalid_input /otp');
      const change = kit.call('change_password', same, { bearer, origin: REMOTE });
      if (turn < 9) expect(await refusalOf(change)).toBe('invalid_input /newPassword');
      else await refusalOf(change);
    }
    const entries = await kit.services.store.audit('w_system', { limit: 100 });
    const refused = entries.filter(({ event }) => event?.type === 'otp_refused');
    expect(refused).toHaveLength(10);
    expect(await guess()).toMatch(/^rate_limited/);
  });

  it('is done for somebody else by an administrator: on record, with the end of their sessions', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    await kit.call('create_user', { username: 'bob', password: 'given to bob 1' }, { bearer });
    const bob = await kit.loginWithOwn('bob', 'chosen by bob 1');
    await enrol(kit, bob, 'chosen by bob 1');
    expect(await refusalOf(kit.call('reset_otp', { username: 'admin' }, { bearer: bob }))).toMatch(/^forbidden/);
    expect(await kit.call('reset_otp', { username: 'bob' }, { bearer })).toEqual({ reset: true });
    await expect(kit.gate.authenticate(bob, REMOTE)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await kit.login('bob', 'chosen by bob 1')).toEqual(expect.any(String));
    expect((await kit.events()).find(({ type }) => type === 'otp_reset')).toMatchObject({
      ...{ actor: 'user:admin', result: 'ok', detail: { account: 'bob' } },
    });
    expect(await refusalOf(kit.call('reset_otp', { username: 'bob' }, { bearer }))).toMatch(/^conflict/);
    expect(await refusalOf(kit.call('reset_otp', { username: 'nobody' }, { bearer }))).toMatch(/^not_found/);
  });

  it('is not done for oneself with the rights of an administrator', async () => {
    await using kit = await enrolled();
    expect(await refusalOf(kit.call('reset_otp', { username: 'admin' }, { bearer: kit.bearer }))).toMatch(/^forbidden/);
  });
});

describe('recovery codes', () => {
  it('are renewed with the password and a code, and those there were are good no more', async () => {
    await using kit = await enrolled();
    const { bearer } = kit;
    const [old = ''] = kit.recoveryCodes;
    const renew = (otp: string) => kit.call('renew_recovery_codes', { password: ADMIN_PASSWORD, otp }, { bearer });
    expect(await refusalOf(renew('abcd-abcd'))).toBe('invalid_input /otp');
    const [fresh = ''] = (await renew(kit.code()))['recoveryCodes'] as string[];
    await expect(kit.login('admin', ADMIN_PASSWORD, REMOTE, old)).rejects.toMatchObject(CODE_WRONG);
    expect(await kit.login('admin', ADMIN_PASSWORD, REMOTE, fresh)).toEqual(expect.any(String));
  });
});

describe.each(['pro', 'community'] as const)('where administrators must have a second factor, in %s', (edition) => {
  const options = { edition, signIn: { secondFactor: 'administrators' } } as const;

  it('one without signs in to enrol and for nothing else', async () => {
    await using kit = await buildIdentityKit(options);
    const answer = await kit.call('log_in', { username: 'admin', password: ADMIN_PASSWORD }, { origin: REMOTE });
    expect(answer).toMatchObject({ secondFactorRequired: true });
    const bearer = String(answer['token']);
    expect(await refusalOf(kit.call('list_users', {}, { bearer }))).toMatch(/^second_factor_required/);
    expect(await kit.call('get_otp_state', {}, { bearer })).toMatchObject({ enrolled: false, required: true });
    const factor = await enrol(kit, bearer);
    expect(await kit.call('list_users', {}, { bearer })).toMatchObject({ items: [{ secondFactor: true }] });
    const body = { username: 'admin', password: ADMIN_PASSWORD, otp: factor.code() };
    expect(await kit.call('log_in', body)).not.toHaveProperty('secondFactorRequired');
  });

  it('who administers a workspace is asked for one, who views it is not', async () => {
    await using kit = await buildIdentityKit(options);
    const workspace = await kit.workspace('prod');
    const [ada, vic] = [await kit.person('ada', 'admin', workspace), await kit.person('vic', 'viewer', workspace)];
    const list = (bearer: string) => kit.call('list_peers', {}, { bearer, workspace });
    expect(await refusalOf(list(ada))).toMatch(/^second_factor_required/);
    expect(await refusalOf(kit.call('list_workspaces', {}, { bearer: ada }))).toMatch(/^second_factor_required/);
    expect(await list(vic)).toMatchObject({ items: [] });
  });
});
