import { expect, it } from 'vitest';
import { burstBytesOf } from './linux.ts';

it.each([1_280, 1_420, 576])('packets of one burst fit into one message at an MTU of %i', (mtu) => {
  const burst = burstBytesOf(mtu);
  // With time stamps over IPv6 and IPv4, and without.
  for (const headers of [72, 60, 52, 40]) {
    const packets = Math.ceil(burst / (mtu - headers));
    expect(packets * (mtu + 32)).toBeLessThanOrEqual(65_507);
    expect((packets + 2) * (mtu + 32)).toBeGreaterThan(62_000);
  }
});
