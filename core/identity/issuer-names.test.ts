import fc from 'fast-check';
import { expect, test } from 'vitest';
import { USERNAME_PATTERN } from './accounts.ts';
import { usernameOf } from './issuer-names.ts';

test.each([
  ['ada@example.com', 'ada@example.com'],
  ['ada+mesh@example.com', 'ada+mesh@example.com'],
  ["o'brien@example.com", /^o-brien-example-com-[0-9a-f]{16}$/],
  ['ceo@corp.example.рф', /^ceo-corp-example-[0-9a-f]{16}$/],
  ['-ceo@corp.example', /^ceo-corp-example-[0-9a-f]{16}$/],
  ['иван@почта.рф', /^[0-9a-f]{16}$/],
  ['....@....', /^[0-9a-f]{16}$/],
  [`${'a'.repeat(60)}@example.com`, /^a{43}-[0-9a-f]{16}$/],
])('%s has the user name %s', (address, expected) => {
  expect(usernameOf(address)).toMatch(
    expected instanceof RegExp ? expected : new RegExp(`^${RegExp.escape(expected)}$`),
  );
});

const PART = fc.string({
  unit: fc.constantFrom('a', 'z', '0', '.', '-', '+', '_', "'", 'я', '💥'),
  minLength: 1,
  maxLength: 64,
});
const ADDRESS = fc.tuple(PART, PART).map(([local, domain]) => `${local}@${domain}`);

test('any address has a user name, with a number too, and no two have the same one', () => {
  fc.assert(
    fc.property(ADDRESS, ADDRESS, (one, other) => {
      expect(usernameOf(one)).toMatch(USERNAME_PATTERN);
      expect(`${usernameOf(one)}-99`).toMatch(USERNAME_PATTERN);
      expect(usernameOf(one) === usernameOf(other)).toBe(one === other);
    }),
  );
});
