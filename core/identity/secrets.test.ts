import { expect, it } from 'vitest';
import { ADMIN_PASSWORD, buildIdentityKit, type IdentityKit } from '../../test/kits/plane/identity-kit.ts';
import { createApiToken } from '../../tools/tokens/create-api-token.ts';
import { generateJoinToken } from '../../tools/tokens/generate-join-token.ts';
import { changePassword } from '../../tools/users/change-password.ts';
import { createUser } from '../../tools/users/create-user.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { KINDS, type Kind } from '../base/record.ts';

/** Everything the store would ever answer. */
async function contentsOf({ services: { store } }: IdentityKit): Promise<string> {
  const parts: unknown[] = [];
  for (const workspace of [SYSTEM_WORKSPACE, ...(await store.workspaces())]) {
    for (const kind of Object.keys(KINDS) as Kind[]) parts.push((await store.list(workspace, kind)).items);
    parts.push(await store.commits(workspace, 0, 1_000), await store.audit(workspace, { limit: 1_000 }));
  }
  return JSON.stringify(parts);
}

it('no password and no token is in any record, commit or audit entry', async () => {
  await using kit = await buildIdentityKit();
  const newPassword = 'the-Second-pass';
  const userPassword = 'loves-Engines-1843';
  const workspace = await kit.workspace('prod');
  const first = await kit.login('admin', ADMIN_PASSWORD);
  await kit.login('admin', 'a-Wrong-guess').catch(() => {});
  await kit.call(createUser, { username: 'ada', password: userPassword }, { bearer: first });
  const api = await kit.call(createApiToken, { name: 'ci' }, { bearer: first, workspace });
  const join = await kit.call(generateJoinToken, { name: 'web' }, { bearer: first, workspace });
  await kit.call(changePassword, { oldPassword: ADMIN_PASSWORD, newPassword }, { bearer: first });
  await kit.gate.authenticate(String(api['token']), '203.0.113.7').catch(() => {});
  await kit.gate.flushRefusals();

  const contents = await contentsOf(kit);
  expect(contents).toContain('user:admin');
  const secrets = [ADMIN_PASSWORD, newPassword, userPassword, 'a-Wrong-guess', first, api['token'], join['token']];
  for (const secret of secrets.map(String)) {
    for (const form of [secret, Buffer.from(secret).toString('base64').replaceAll('=', '')]) {
      expect(contents.includes(form)).toBe(false);
    }
  }
  expect(contents).not.toMatch(/mesh-(join|dlg|agt|dev|api)-|eyJ[\w-]{10}/);
});
