import { expect, it } from 'vitest';
import { buildIdentityKit, type IdentityKit } from '../../test/kits/plane/identity-kit.ts';
import { agent, person } from '../../test/kits/plane/kit.ts';
import { operations } from '../../tools/index.ts';
import { createApiToken } from '../../tools/tokens/create-api-token.ts';
import { generateJoinToken } from '../../tools/tokens/generate-join-token.ts';
import type { Caller } from '../base/caller.ts';
import { SCOPES } from '../base/scope.ts';

/** Who may call each operation of identity: anonymous, a member of another workspace, the roles, a token, an agent, a join token. */
const EXPECTED = `
                     anonymous  stranger   viewer     auditor    operator   admin      platform   api-token  agent      join
  log_in             yes        yes        yes        yes        yes        yes        yes        yes        yes        yes
  get_sign_in       yes        yes        yes        yes        yes        yes        yes        yes        yes        yes
  begin_issuer_sign_in yes        yes        yes        yes        yes        yes        yes        yes        yes        yes
  finish_issuer_sign_in yes        yes        yes        yes        yes        yes        yes        yes        yes        yes
  begin_command_line_sign_in yes        yes        yes        yes        yes        yes        yes        yes        yes        yes
  finish_command_line_sign_in yes        yes        yes        yes        yes        yes        yes        yes        yes        yes
  create_passkey_challenge yes        yes        yes        yes        yes        yes        yes        yes        yes        yes
  log_in_with_passkey yes        yes        yes        yes        yes        yes        yes        yes        yes        yes
  log_out            401        yes        yes        yes        yes        yes        yes        yes        403        403
  get_me             401        yes        yes        yes        yes        yes        yes        yes        403        403
  change_password    401        yes        yes        yes        yes        yes        yes        yes        403        403
  begin_otp          401        yes        yes        yes        yes        yes        yes        yes        403        403
  confirm_otp        401        yes        yes        yes        yes        yes        yes        yes        403        403
  get_otp_state      401        yes        yes        yes        yes        yes        yes        yes        403        403
  disable_otp        401        yes        yes        yes        yes        yes        yes        yes        403        403
  renew_recovery_codes 401        yes        yes        yes        yes        yes        yes        yes        403        403
  begin_passkey 401        yes        yes        yes        yes        yes        yes        yes        403        403
  add_passkey 401        yes        yes        yes        yes        yes        yes        yes        403        403
  remove_passkey 401        yes        yes        yes        yes        yes        yes        yes        403        403
  list_sessions      401        yes        yes        yes        yes        yes        yes        yes        403        403
  log_out_everywhere 401        yes        yes        yes        yes        yes        yes        yes        403        403
  list_client_grants 401        yes        yes        yes        yes        yes        yes        yes        403        403
  end_client_grant   401        yes        yes        yes        yes        yes        yes        yes        403        403
  end_session        401        yes        yes        yes        yes        yes        yes        yes        403        403
  list_users         401        403        403        403        403        403        yes        403        403        403
  create_user        401        403        403        403        403        403        yes        403        403        403
  update_user        401        403        403        403        403        403        yes        403        403        403
  delete_user        401        403        403        403        403        403        yes        403        403        403
  reset_otp          401        403        403        403        403        403        yes        403        403        403
  unlock_user        401        403        403        403        403        403        yes        403        403        403
  create_api_token   401        404        yes        yes        yes        yes        yes        yes        403        403
  list_api_tokens    401        404        yes        yes        yes        yes        yes        yes        403        403
  revoke_api_token   401        404        yes        yes        yes        yes        yes        yes        403        403
  list_api_token_calls 401        404        yes        yes        yes        yes        yes        yes        403        403
  add_workspace      401        403        403        403        403        403        yes        403        403        403
  list_workspaces    401        yes        yes        yes        yes        yes        yes        yes        403        403
  get_workspace      401        404        yes        yes        yes        yes        yes        yes        yes        403
  update_workspace   401        404        403        403        403        yes        yes        yes        yes        403
  delete_workspace   401        404        403        403        403        403        yes        403        403        403
  list_members       401        404        yes        yes        yes        yes        yes        yes        yes        403
  set_member         401        404        403        403        403        yes        yes        yes        yes        403
  remove_member      401        404        403        403        403        yes        yes        yes        yes        403
  generate_join_token 401       404        403        403        yes        yes        yes        yes        yes        403
  list_join_tokens   401        404        403        403        yes        yes        yes        yes        yes        403
  revoke_join_token  401        404        403        403        yes        yes        yes        yes        yes        403
`;

/** What only a session may do, though a token's scope lets it in: refused inside. */
const SESSION_ONLY: readonly (readonly [string, object])[] = [
  ['log_out', {}],
  ['change_password', { oldPassword: 'a', newPassword: 'b' }],
  ['get_otp_state', {}],
  ['begin_otp', { password: 'a' }],
  ['confirm_otp', { code: '000000' }],
  ['disable_otp', { password: 'a', otp: '000000' }],
  ['begin_passkey', { origin: 'http://localhost', password: 'a' }],
  ['add_passkey', { name: 'a', passkey: { id: 'a', clientDataJSON: 'a', attestationObject: 'a' } }],
  ['remove_passkey', { id: 'a', password: 'a' }],
  ['list_sessions', {}],
  ['end_session', { id: 'x' }],
  ['allow_command_line', { id: 'x' }],
  ['renew_recovery_codes', { password: 'a', otp: '000000' }],
  ['create_api_token', { name: 'more' }],
  ['update_workspace', { displayName: 'Mine' }],
  ['set_member', { username: 'admin', role: 'viewer' }],
  ['remove_member', { username: 'admin' }],
];

const rows = EXPECTED.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));
const [callers = [], ...table] = rows;

/** A call with a field that no operation has: reaching the input check means that access was granted. */
async function outcome(kit: IdentityKit, name: string, as: Caller | undefined, workspace: string): Promise<string> {
  try {
    await kit.call({ name }, { 'no such field': 1 }, { workspace, ...(as && { as }) });
    return 'called';
  } catch (error) {
    const { code } = error as { code: string };
    return { invalid_input: 'yes', unauthenticated: '401', forbidden: '403', not_found: '404' }[code] ?? code;
  }
}

async function prepared(kit: IdentityKit) {
  const workspace = await kit.workspace('prod');
  const as = { bearer: await kit.admin(), workspace };
  const { token } = await kit.call(createApiToken, { name: 'ci', scopes: ['admin'] }, as);
  const join = await kit.call(generateJoinToken, { name: 'web' }, as);
  const who: Readonly<Record<string, Caller | undefined>> = {
    stranger: person('admin', await kit.workspace('dev')),
    viewer: person('viewer', workspace),
    auditor: person('auditor', workspace),
    operator: person('operator', workspace),
    admin: person('admin', workspace),
    platform: person('platform_admin', workspace),
    'api-token': await kit.gate.authenticate(String(token), ''),
    agent: agent(
      SCOPES.filter((scope) => scope !== 'users:write' && scope !== 'workspaces:write'),
      workspace,
    ),
    join: await kit.gate.authenticate(String(join['token']), ''),
  };
  return { workspace, who };
}

it('each operation of identity lets in whom it should and no one else', async () => {
  await using kit = await buildIdentityKit();
  const { workspace, who } = await prepared(kit);
  const actual: string[][] = [];
  for (const [name = ''] of table) {
    const outcomes: string[] = [];
    for (const caller of callers) outcomes.push(await outcome(kit, name, who[caller], workspace));
    actual.push([name, ...outcomes]);
  }
  expect(actual).toEqual(table);
});

it('the table names every operation of identity', () => {
  const identity = /^\/api\/v1\/(users|tokens?|workspaces(\/add|\/:workspaceId(\/members.*)?)?$)/;
  const named = operations.filter(({ http }) => identity.test(http.path)).map(({ name }) => name);
  expect(named.sort()).toEqual(table.map(([name]) => name).sort());
});

it.each(SESSION_ONLY)('%s is refused to a token whatever its scopes', async (name, input) => {
  await using kit = await buildIdentityKit();
  const { workspace, who } = await prepared(kit);
  for (const as of [who['api-token'], who['agent']]) {
    if (!as) throw new Error('no caller');
    await expect(kit.call({ name }, { ...input }, { as, workspace })).rejects.toMatchObject({ code: 'forbidden' });
  }
});
