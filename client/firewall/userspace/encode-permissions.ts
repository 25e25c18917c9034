import type { IpRange } from '../../../core/model/cidr.ts';
import type { Permission, Ports } from '../permissions.ts';

const PERMITS_ALL = 1;
const PERMITS_ICMP = 2;
const IP_BYTES = { 4: 4, 6: 16 } as const;

/**
 * Returns permissions as native/netstack/filter.go reads them, numbers in little-endian: their count (4 bytes), then for each flags
 * (1), first and last address with their lengths, and ports of TCP and UDP: count (2), then first and last port (2 each).
 */
export function encodePermissions(permissions: readonly Permission[]): Uint8Array {
  const parts = permissions.map(({ range, all, icmp, ports }) =>
    Buffer.concat([
      Buffer.of((all ? PERMITS_ALL : 0) | (icmp ? PERMITS_ICMP : 0)),
      encodeAddress(range.from, range.family),
      encodeAddress(range.to, range.family),
      encodePorts(ports.TCP),
      encodePorts(ports.UDP),
    ]),
  );
  const count = Buffer.alloc(4);
  count.writeUInt32LE(parts.length);
  return Buffer.concat([count, ...parts]);
}

function encodeAddress(address: bigint, family: IpRange['family']): Buffer {
  const length = IP_BYTES[family];
  const hex = address.toString(16).padStart(length * 2, '0');
  return Buffer.concat([Buffer.of(length), Buffer.from(hex, 'hex')]);
}

function encodePorts(ports: readonly Ports[]): Buffer {
  const bytes = Buffer.alloc(2 + ports.length * 4);
  bytes.writeUInt16LE(ports.length);
  for (const [index, [from, to]] of ports.entries()) {
    bytes.writeUInt16LE(from, 2 + index * 4);
    bytes.writeUInt16LE(to, 4 + index * 4);
  }
  return bytes;
}
