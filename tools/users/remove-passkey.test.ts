import { expect, test } from 'vitest';
import { ADMIN_PASSWORD } from '../../test/kits/plane/identity-kit.ts';
import { buildPasskeyKit } from '../../test/kits/plane/passkey-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('removes one of the caller, and knows none of others', async () => {
  await using kit = await buildPasskeyKit();
  const bearer = await kit.admin();
  const { authenticator, recoveryCodes } = await kit.addPasskey(bearer);
  const remove = (id: string) =>
    kit.call('remove_passkey', { id, password: ADMIN_PASSWORD, otp: recoveryCodes[0] }, { bearer });
  expect(await refusalOf(remove('another'))).toBe('not_found');
  expect(await remove(authenticator.id)).toEqual({ removed: true });
});
