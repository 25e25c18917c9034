import { expect, test } from 'vitest';
import { buildPasskeyKit, ORIGIN } from '../../test/kits/plane/passkey-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('is another one each time, for the host name of the page', async () => {
  await using kit = await buildPasskeyKit();
  const one = await kit.call('create_passkey_challenge', { origin: ORIGIN });
  expect(one).toEqual({ challenge: expect.any(String), host: 'mesh.example.com' });
  expect(await kit.call('create_passkey_challenge', { origin: ORIGIN })).not.toEqual(one);
  expect(await refusalOf(kit.call('create_passkey_challenge', { origin: 'https://10.0.0.1' }))).toBe(
    'invalid_input /origin',
  );
});
