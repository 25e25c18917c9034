import { expect, test } from 'vitest';
import { askToSignIn } from '../../test/kits/plane/command-line.ts';
import { buildIdentityKit, buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a sign-in is decided once: nobody allows what another person decided, and a denial is told', async () => {
  await using kit = await buildPeopleKit();
  const { id, finish } = await askToSignIn(kit);
  await kit.vic('allow_command_line', { id });
  expect(await refusalOf(kit.root('allow_command_line', { id }))).toBe('conflict');
  expect(await refusalOf(kit.root('deny_client_request', { id }))).toBe('conflict');
  expect((await finish()).session.username).toBe('vic');

  const denied = await askToSignIn(kit, { listens: true });
  const { url } = await kit.ada('deny_client_request', { id: denied.id });
  const key = new URL(url).searchParams.get('key') ?? '';
  expect(await refusalOf(kit.ada('allow_command_line', { id: denied.id }))).toBe('conflict');
  expect(await refusalOf(denied.finish({ key }))).toBe('forbidden');
});

test('a sign-in makes no agent, and a request of a client is no sign-in', async () => {
  await using kit = await buildPeopleKit();
  const { id } = await askToSignIn(kit);
  expect(await refusalOf(kit.ada('allow_client_request', { id }))).toBe('not_found');
  expect(await refusalOf(kit.ada('allow_command_line', { id: 'device-BCDFGHJK' }))).toBe('not_found');
});

test('a sign-in is allowed by a person who is signed in and has nothing else to see to first', async () => {
  await using kit = await buildIdentityKit({ isUnchanged: true, signIn: { secondFactor: 'administrators' } });
  const { id } = await askToSignIn(kit);
  const bearer = await kit.admin();
  const allow = (as: string) => refusalOf(kit.call('allow_command_line', { id }, { bearer: as }));
  expect(await allow(bearer)).toBe('password_change_required');
  expect(await refusalOf(kit.call('get_client_request', { id }, { bearer }))).toBe('password_change_required');
  const workspace = await kit.workspace('prod');
  expect(await allow(await kit.person('ada', 'admin', workspace))).toBe('second_factor_required');
  const vic = await kit.person('vic', 'viewer', workspace);
  const { token } = await kit.call<{ token: string }>('create_api_token', { name: 'ci' }, { bearer: vic, workspace });
  expect(await allow(token)).toBe('forbidden');
  expect(await kit.call('allow_command_line', { id }, { bearer: vic })).toEqual({});
});
