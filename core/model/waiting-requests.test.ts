import { expect, test } from 'vitest';
import { buildWaitingRequests } from './waiting-requests.ts';

const place = () =>
  buildWaitingRequests<{ decision?: string }>({ clock: { now: () => 0 } }, 'a-request', (value) => value as object);

/** Saves requests from each of these, until one is refused. @returns how many were taken */
async function fill(requests: ReturnType<typeof place>, origins: readonly string[]): Promise<number> {
  for (const [taken, origin] of origins.entries()) {
    const isTaken = await requests.save(`${origin} ${taken}`, {}, 1, origin).then(
      () => true,
      () => false,
    );
    if (!isTaken) return taken;
  }
  return origins.length;
}

const sites = (count: number, of: (nth: number) => string) => Array.from({ length: count }, (_, nth) => of(nth));

test.each([
  ['one address', () => '192.0.2.7', 30],
  ['one IPv4 network', (nth: number) => `192.0.2.${nth % 200}`, 120],
  ['one site of IPv6', (nth: number) => `2001:db8::${nth.toString(16)}`, 30],
  ['one IPv6 network', (nth: number) => `2001:db8:0:${((nth % 200) << 8).toString(16)}::1`, 120],
])('of %s no more wait than its share', async (_what, of, share) => {
  const requests = place();
  expect(await fill(requests, sites(200, of))).toBe(share);
  expect(await fill(requests, ['198.51.100.1'])).toBe(1);
});

test('a place that strangers have filled forgets nobody, and takes what this machine asks', async () => {
  const requests = place();
  await requests.save('mine', {}, 1, '203.0.113.5');
  expect(
    await fill(
      requests,
      sites(2_000, (nth) => `10.${nth % 250}.${nth % 7}.1`),
    ),
  ).toBe(999);
  expect(await requests.find('mine')).toEqual({});
  expect(await fill(requests, ['198.51.100.1'])).toBe(0);
  expect(await fill(requests, ['127.0.0.1'])).toBe(1);
});
