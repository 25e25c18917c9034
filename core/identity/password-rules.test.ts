import { describe, expect, it } from 'vitest';
import { ADMIN_PASSWORD, buildIdentityKit, buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { requireGoodPassword } from './password-rules.ts';

const DAY_MS = 86_400_000;
const RULES = { passwordLength: 8 };

describe('password rules', () => {
  it.each([
    ...['Short1!', '12345678', 'PASSWORD1', 'ada', 'ada12', 'abababababab', 'x'.repeat(257), 'mesh-admin'],
    ...['Password2026!', '!!Welcome-1', 'summer2025', 'qwertz99', '2026Firewall'],
  ])('refuse %j', (password) => {
    expect(() => requireGoodPassword(password, 'ada', '/newPassword', RULES)).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    );
  });

  it.each(['tr0ub4dor', 'four plain words here', 'пароль-мой-1', 'ada-loves-engines', 'summer in the alps'])(
    'accept %j',
    (password) => {
      requireGoodPassword(password, 'ada', '/newPassword', RULES);
    },
  );

  it('ask for as many characters as the installation does, wherever a person sets a password', async () => {
    await using kit = await buildIdentityKit({ signIn: { passwordLength: 14 } });
    const bearer = await kit.admin();
    const [short, long] = ['thirteen char', 'fourteen chars'];
    const create = (password: string) => kit.call('create_user', { username: 'bob', password }, { bearer });
    expect(await refusalOf(create(short))).toBe('invalid_input /password');
    await create(long);
    const update = (password: string) => kit.call('update_user', { username: 'bob', password }, { bearer });
    expect(await refusalOf(update(short))).toBe('invalid_input /password');
    const change = (newPassword: string) =>
      kit.call('change_password', { oldPassword: ADMIN_PASSWORD, newPassword }, { bearer });
    await expect(change(short)).rejects.toThrow('A password has at least 14 characters.');
    await change(long);
  });

  it('leave a password of the configuration as it is', async () => {
    await using kit = await buildIdentityKit({ signIn: { passwordLength: 64 } });
    expect(await kit.login('admin', ADMIN_PASSWORD)).toEqual(expect.any(String));
  });
});

describe('passwords there were', () => {
  it('are not chosen again until others came in between', async () => {
    await using kit = await buildIdentityKit({ signIn: { passwordHistory: 3 } });
    let current = ADMIN_PASSWORD;
    const change = async (newPassword: string) => {
      const bearer = await kit.admin();
      await kit.call('change_password', { oldPassword: current, newPassword }, { bearer });
      current = newPassword;
    };
    await change('the second one');
    await change('the third one 3');
    expect(await refusalOf(change(ADMIN_PASSWORD))).toBe('invalid_input /newPassword');
    expect(await refusalOf(change('the second one'))).toBe('invalid_input /newPassword');
    await change('the fourth one');
    await change(ADMIN_PASSWORD);
    expect(await refusalOf(change('the third one 3'))).toBe('invalid_input /newPassword');
  });

  it('are remembered over one that an administrator set', async () => {
    await using kit = await buildPeopleKit();
    await kit.root('create_user', { username: 'bob', password: 'given to bob 1' });
    await kit.root('update_user', { username: 'bob', password: 'given to bob 2' });
    const bob = kit.askWith(await kit.login('bob', 'given to bob 2'));
    const change = (newPassword: string) => bob('change_password', { oldPassword: 'given to bob 2', newPassword });
    expect(await refusalOf(change('given to bob 1'))).toBe('invalid_input /newPassword');
    expect(await change('chosen by bob')).toEqual({ changed: true });
  });
});

describe('a password that is too old', () => {
  it('lets in to be changed and for nothing else, from the next login on', async () => {
    await using kit = await buildIdentityKit({ signIn: { passwordMaxAgeMs: 90 * DAY_MS } });
    const first = await kit.admin();
    await kit.call(
      'change_password',
      { oldPassword: ADMIN_PASSWORD, newPassword: 'second-Admin-pass' },
      { bearer: first },
    );
    const logIn = (password: string) => kit.call('log_in', { username: 'admin', password }, { origin: '203.0.113.7' });
    kit.clock.time += 90 * DAY_MS - 1;
    const young = await logIn('second-Admin-pass');
    expect(young['passwordChangeRequired']).toBe(false);
    kit.clock.time += 1;
    const bearer = String(young['token']);
    expect(await kit.call('list_users', {}, { bearer })).toMatchObject({ items: [{ username: 'admin' }] });

    const old = await logIn('second-Admin-pass');
    expect(old['passwordChangeRequired']).toBe(true);
    const aged = { bearer: String(old['token']), origin: '203.0.113.7' };
    expect(await refusalOf(kit.call('list_users', {}, aged))).toMatch(/^password_change_required/);
    const passwords = { oldPassword: 'second-Admin-pass', newPassword: 'third-Admin-pass' };
    expect(await kit.call('change_password', passwords, aged)).toEqual({ changed: true });
    expect((await logIn('third-Admin-pass'))['passwordChangeRequired']).toBe(false);
  });
});
