import { expect, test } from 'vitest';
import { buildPasskeyKit } from '../../test/kits/plane/passkey-kit.ts';

test('answers a session and whose it is', async () => {
  await using kit = await buildPasskeyKit();
  const { authenticator } = await kit.addPasskey(await kit.admin());
  expect(await kit.enter(authenticator)).toEqual({
    token: expect.any(String),
    expiresAt: expect.any(String),
    username: 'admin',
  });
});
