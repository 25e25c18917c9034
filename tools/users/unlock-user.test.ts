import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('needs an account that there is, and users:write', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.root('unlock_user', { username: 'nobody' }))).toBe('not_found');
  expect(await refusalOf(kit.ada('unlock_user', { username: 'vic' }))).toBe('forbidden users:write');
});
