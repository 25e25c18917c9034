import { expect, test } from 'vitest';
import { newAuthenticator } from '../../test/kits/plane/authenticator.ts';
import { buildPasskeyKit, ORIGIN } from '../../test/kits/plane/passkey-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('takes a name, and a fresh credential alone', async () => {
  await using kit = await buildPasskeyKit();
  const bearer = await kit.admin();
  const passkey = newAuthenticator({ origin: ORIGIN }).create({ challenge: await kit.challengeOf() });
  expect(await refusalOf(kit.call('add_passkey', { name: '', passkey }, { bearer }))).toBe('invalid_input /name');
  expect(await refusalOf(kit.call('add_passkey', { name: 'Key', passkey }, { bearer }))).toBe('invalid_input /passkey');
  const { recoveryCodes } = await kit.addPasskey(bearer);
  expect(recoveryCodes).toHaveLength(10);
});
