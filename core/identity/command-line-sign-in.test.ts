import { describe, expect, test } from 'vitest';
import { askToSignIn } from '../../test/kits/plane/command-line.ts';
import { buildPeopleKit, CONTEXT } from '../../test/kits/plane/identity-kit.ts';
import { buildIssuerKit, identity, ORIGIN } from '../../test/kits/plane/issuer-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { draftOf } from '../base/record.ts';
import { askIssuers } from './issuer-sessions.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ADA = identity('ada@example.com', ['operators']);

describe('a sign-in of a command line', () => {
  test('by a code is a session of who allowed it, named after the machine, and waits until then', async () => {
    await using kit = await buildPeopleKit();
    const { id, begun, finish } = await askToSignIn(kit);
    expect(begun).toEqual({
      id: `device-${begun.userCode.replace('-', '')}`,
      page: 'http://127.0.0.1:18090/#/~/allow',
      userCode: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
      expiresAt: '2026-01-15T12:10:00.000Z',
      interval: 2,
    });
    expect(await finish()).toEqual({});
    expect(await kit.ada('get_client_request', { id })).toEqual({
      commandLine: { host: 'laptop', origin: '192.0.2.7', isElsewhere: true },
      isDecided: false,
    });
    expect(await kit.ada('allow_command_line', { id })).toEqual({});
    const { session } = await finish();
    expect(session).toMatchObject({ username: 'ada', passwordChangeRequired: false });
    const { items } = await kit.askWith(session.token)('list_sessions');
    const own = items.find(({ current }: { current: boolean }) => current);
    expect(own).toMatchObject({ client: 'mesh command line on laptop', origin: '192.0.2.7' });
    expect((await kit.events()).at(-1)).toMatchObject({
      type: 'login',
      actor: 'user:ada',
      result: 'ok',
      detail: { allowedBy: expect.stringMatching(/^ses_/) },
    });
  });

  test('lasts no longer than the session that allowed it, also where that one was allowed so', async () => {
    await using kit = await buildPeopleKit();
    const bearer = await kit.sessionOf('ada');
    kit.clock.time += 11 * HOUR_MS;
    let allowing = bearer;
    for (const _round of [1, 2]) {
      const { id, finish } = await askToSignIn(kit);
      await kit.call('allow_command_line', { id }, { bearer: allowing });
      const { session } = await finish();
      expect(session.expiresAt).toBe('2026-01-16T00:00:00.000Z');
      allowing = session.token;
    }
    kit.clock.time += HOUR_MS;
    expect(await refusalOf(kit.askWith(allowing)('get_me'))).toBe('unauthenticated');
  });

  test('begins no session once the one that allowed it has ended', async () => {
    await using kit = await buildPeopleKit();
    for (const ending of ['log_out', 'log_out_everywhere']) {
      const bearer = await kit.sessionOf('ada');
      const { id, finish } = await askToSignIn(kit);
      await kit.call('allow_command_line', { id }, { bearer });
      await kit.call(ending, {}, { bearer });
      expect(await refusalOf(finish())).toBe('unauthenticated');
    }
    const late = await askToSignIn(kit);
    await kit.vic('allow_command_line', { id: late.id });
    await kit.root('update_user', { username: 'vic', disabled: true });
    expect(await refusalOf(late.finish())).toBe('unauthenticated');
  });

  test('ends with a sign-out everywhere and with the account, and goes on where another session signs out', async () => {
    await using kit = await buildPeopleKit();
    const signedIn = async () => {
      const bearer = await kit.sessionOf('ada');
      const { id, finish } = await askToSignIn(kit);
      await kit.call('allow_command_line', { id }, { bearer });
      return { bearer, token: (await finish()).session.token };
    };
    const { bearer, token } = await signedIn();
    await kit.call('log_out', {}, { bearer });
    expect(await kit.askWith(token)('get_me')).toMatchObject({ username: 'ada' });
    await kit.call('log_out_everywhere', {}, { bearer: await kit.sessionOf('ada') });
    expect(await refusalOf(kit.askWith(token)('get_me'))).toBe('unauthenticated');
    const other = await signedIn();
    await kit.root('delete_user', { username: 'ada' });
    expect(await refusalOf(kit.askWith(other.token)('get_me'))).toBe('unauthenticated');
  });

  test('of somebody of an issuer ends when the issuer refuses the session that allowed it, however it came by', async () => {
    await using kit = await buildIssuerKit();
    const root = await kit.signIn(ADA);
    const tokens = [root.token];
    for (const _round of [1, 2]) {
      const { id, finish } = await askToSignIn(kit, { server: ORIGIN });
      await kit.call('allow_command_line', { id }, { bearer: tokens.at(-1) ?? '' });
      tokens.push((await finish()).session.token);
    }
    const each = () => Promise.all(tokens.map((bearer) => refusalOf(kit.call('get_me', {}, { bearer }))));
    const { items } = await kit.call<{ items: unknown[] }>('list_sessions', {}, { bearer: root.token });
    expect(items).toHaveLength(3);
    kit.answers.refresh = 'away';
    kit.clock.time += 10 * MINUTE_MS;
    await askIssuers(kit.services);
    expect(kit.refreshedWith).toEqual(['refresh-1']);
    expect(await kit.call('get_me', {}, { bearer: tokens[2] ?? '' })).toMatchObject({ username: 'ada@example.com' });
    kit.answers.refresh = 'refused';
    kit.clock.time += 10 * MINUTE_MS;
    await askIssuers(kit.services);
    expect(await each()).toEqual(Array(3).fill('unauthenticated'));
    const again = await kit.signIn(ADA);
    expect(await kit.call('list_sessions', {}, { bearer: again.token })).toMatchObject({ items: [{ current: true }] });
  });

  test('of somebody of an issuer ends once nobody asks the issuer any more: at a sign-out, or for want of use', async () => {
    await using kit = await buildIssuerKit();
    const { store } = kit.services;
    for (const ending of ['signs out', 'is idle']) {
      const root = await kit.signIn(ADA);
      const { id, finish } = await askToSignIn(kit, { server: ORIGIN });
      await kit.call('allow_command_line', { id }, { bearer: root.token });
      const bearer = (await finish()).session.token;
      expect(await kit.call('get_me', {}, { bearer })).toMatchObject({ username: 'ada@example.com' });
      const { items } = await store.list(SYSTEM_WORKSPACE, 'Session');
      const session = items.find(({ spec }) => spec.issued?.refreshToken !== undefined);
      if (ending === 'signs out') await kit.call('log_out', {}, { bearer: root.token });
      else if (session) {
        const record = { ...draftOf(session), spec: { ...session.spec, idle: true as const } };
        await store.commit(SYSTEM_WORKSPACE, [{ op: 'update', record, revision: session.revision }], CONTEXT);
      }
      expect(await refusalOf(kit.call('get_me', {}, { bearer }))).toBe('unauthenticated');
    }
  });
});
