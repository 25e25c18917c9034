import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type IpRange, parseAddress } from '../core/model/cidr.ts';
import { parseIp } from '../net/stun/address.ts';

/** What core and the network codecs read in a text, each in the form of the other's bytes. */
function readBy(text: string): { core: string | undefined; net: string | undefined } {
  const bytes = parseIp(text);
  return { core: hexOf(parseAddress(text)), net: bytes && Buffer.from(bytes).toString('hex') };
}

function hexOf(range: IpRange | undefined): string | undefined {
  return range?.from.toString(16).padStart(range.family === 4 ? 8 : 32, '0');
}

test.each([
  '010.0.0.1',
  '10.00.0.1',
  '0x0a.0.0.1',
  '10.1',
  '167772161',
  '1.2.3.4::',
  '::ffff:010.0.0.1',
  '::%',
  '1:2:3:4:5:6:7::8:9',
])('nobody takes %s for an address', (text) => {
  expect(readBy(text)).toEqual({ core: undefined, net: undefined });
  expect(isIP(text)).toBe(0);
});

test.each([
  ['10.0.0.1', '0a000001'],
  ['::1.2.3.4', '00000000000000000000000001020304'],
  ['::ffff:1.2.3.4', '00000000000000000000ffff01020304'],
])('everybody reads %s alike', (text, hex) => {
  expect(readBy(text)).toEqual({ core: hex, net: hex });
});

test('the parser of policies and that of packets agree with each other and with the system on every text', () => {
  const part = fc.constantFrom('0', '1', '00', '010', '9', '255', '256', 'ffff', 'a', '12345', ':', '::', '.', '/', '');
  const text = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.array(part, { maxLength: 17 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (each) => {
      const { core, net } = readBy(each);
      expect(core).toBe(net);
      expect(core !== undefined).toBe(isIP(each) !== 0);
    }),
    { numRuns: 5_000 },
  );
});
