import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('is refused without what it takes, and to a token', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.root('begin_otp', { password: 'wrong' }))).toBe('invalid_input /password');
  const { token } = await kit.ada('create_api_token', { name: 'ci' });
  expect(await refusalOf(kit.askWith(token)('begin_otp', { password: 'wrong' }))).toMatch(/^forbidden/);
});
