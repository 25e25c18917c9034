import { expect, test } from 'vitest';
import { buildIssuerKit } from '../../test/kits/plane/issuer-kit.ts';

test('anybody learns the names of issuers, and no more of the configuration', async () => {
  await using kit = await buildIssuerKit();
  expect(await kit.call('get_sign_in', {})).toEqual({
    issuers: [
      { name: 'corp', title: 'Example Corp' },
      { name: 'open', title: 'Open' },
    ],
    passwords: true,
  });
});
