import { expect, test } from 'vitest';
import { ADMIN_PASSWORD } from '../../test/kits/plane/identity-kit.ts';
import { buildPasskeyKit, ORIGIN } from '../../test/kits/plane/passkey-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('tells an authenticator the account and the passkeys that it has, and a token nothing', async () => {
  await using kit = await buildPasskeyKit();
  const bearer = await kit.admin();
  const { authenticator } = await kit.addPasskey(bearer);
  const raw = { origin: ORIGIN, passkey: await kit.show(authenticator) };
  expect(await kit.call('begin_passkey', raw, { bearer })).toEqual({
    challenge: expect.any(String),
    host: 'mesh.example.com',
    user: { id: expect.any(String), name: 'admin', displayName: expect.any(String) },
    algorithms: [-7, -8, -257],
    exclude: [authenticator.id],
  });
  const workspace = await kit.workspace('prod');
  const { token } = await kit.call<{ token: string }>('create_api_token', { name: 'ci' }, { bearer, workspace });
  const byToken = kit.call('begin_passkey', { origin: ORIGIN, password: ADMIN_PASSWORD }, { bearer: token });
  expect(await refusalOf(byToken)).toBe('forbidden');
});
