import { expect, it } from 'vitest';
import { permissionsAt } from '../permissions.ts';
import { encodePermissions } from './encode-permissions.ts';

it('writes flags, first and last address, and ports of TCP and UDP', () => {
  const permissions = permissionsAt(
    [
      { cidr: '10.96.0.2/32', protocol: 'TCP', from: 80, to: 81 },
      { cidr: '10.96.0.2/32', protocol: 'ICMP' },
      { cidr: 'fd00::/127', protocol: 'ALL' },
    ],
    0,
  );
  expect(Buffer.from(encodePermissions(permissions)).toString('hex')).toBe(
    ['02000000', '02', '040a600002', '040a600002', '0100', '5000', '5100', '0000']
      .concat('01', `10fd00${'0'.repeat(28)}`, `10fd00${'0'.repeat(27)}1`, '0000', '0000')
      .join(''),
  );
});
