import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a person without a second factor is told so, and a token is told nothing', async () => {
  await using kit = await buildPeopleKit();
  expect(await kit.ada('get_otp_state')).toEqual({
    enrolled: false,
    recoveryCodesLeft: 0,
    required: false,
    passkeys: [],
  });
  const { token } = await kit.ada('create_api_token', { name: 'ci' });
  expect(await refusalOf(kit.askWith(token)('get_otp_state'))).toMatch(/^forbidden/);
});
