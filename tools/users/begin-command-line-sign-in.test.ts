import { expect, test } from 'vitest';
import { askToSignIn } from '../../test/kits/plane/command-line.ts';
import { buildIdentityKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const MINUTE_MS = 60_000;

test('a sign-in leads to a public address or the loopback, and nowhere else', async () => {
  await using kit = await buildIdentityKit();
  expect(await refusalOf(askToSignIn(kit, { server: 'http://mesh.example.com' }))).toBe('invalid_input /server');
  await using published = await buildIdentityKit({ publicUrls: ['https://a.example', 'https://b.example'] });
  const pages = ['https://b.example', 'https://evil.example', 'http://127.0.0.1:18090'].map(async (server) => {
    return (await askToSignIn(published, { server })).begun.page;
  });
  const [a, b] = ['https://a.example/#/~/allow', 'https://b.example/#/~/allow'];
  expect(await Promise.all(pages)).toEqual([b, a, a]);
});

test.each(['laptop” as root', 'láptop', 'lap top', ''])(
  'a sign-in is refused for a machine that calls itself %s',
  async (host) => {
    await using kit = await buildIdentityKit();
    expect(await refusalOf(askToSignIn(kit, { host }))).toBe('invalid_input /host');
  },
);

test('a sign-in waits beside 29 others of its network, of which none keeps another network or this machine from asking', async () => {
  await using kit = await buildIdentityKit();
  const ask = (origin: string) => askToSignIn(kit, { origin });
  for (let count = 0; count < 30; count += 1) await ask('192.0.2.7');
  expect(await refusalOf(ask('192.0.2.7'))).toBe('rate_limited');
  await ask('192.0.2.8');
  for (let count = 0; count < 31; count += 1) await ask('127.0.0.1');
  kit.clock.time += 10 * MINUTE_MS;
  await ask('192.0.2.7');
});
