import { expect, test } from 'vitest';
import { buildIssuerKit } from '../../test/kits/plane/issuer-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('what an issuer sent back is exchanged for a session of 12 hours, once', async () => {
  await using kit = await buildIssuerKit();
  const query = await kit.begin();
  const session = await kit.finish(query);
  expect(session).toMatchObject({ username: 'ada@example.com', expiresAt: '2026-01-16T00:00:00.000Z' });
  expect(await kit.call('get_me', {}, { bearer: session.token })).toMatchObject({ interactive: true });
  expect(await refusalOf(kit.finish(query))).toBe('unauthenticated');
});

test('a query that is too long, or missing, is refused by its field', async () => {
  await using kit = await buildIssuerKit();
  expect(await refusalOf(kit.finish(`?state=${'x'.repeat(9_000)}`))).toBe('invalid_input /query');
  expect(await refusalOf(kit.finish(''))).toBe('invalid_input /query');
});
