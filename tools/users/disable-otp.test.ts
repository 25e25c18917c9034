import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('is refused without what it takes, and to a token', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.root('disable_otp', { password: 'wrong', otp: '000000' }))).toBe('conflict');
  const { token } = await kit.ada('create_api_token', { name: 'ci' });
  expect(await refusalOf(kit.askWith(token)('disable_otp', { password: 'wrong', otp: '000000' }))).toMatch(
    /^forbidden/,
  );
});
