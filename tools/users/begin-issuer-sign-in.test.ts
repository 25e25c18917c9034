import { expect, test } from 'vitest';
import { buildIssuerKit, ORIGIN } from '../../test/kits/plane/issuer-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a browser is told where to go on, and led back to the name of its issuer', async () => {
  await using kit = await buildIssuerKit();
  const raw = { name: 'corp', origin: ORIGIN };
  const { url } = await kit.call<{ url: string }>('begin_issuer_sign_in', raw, { browserKey: 'a key' });
  expect(new URL(url).searchParams.get('redirect_uri')).toBe(`${ORIGIN}/sign-in/corp`);
  expect(await refusalOf(kit.call('begin_issuer_sign_in', raw))).toBe('unauthenticated');
});
