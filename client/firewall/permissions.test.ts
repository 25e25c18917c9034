import fc from 'fast-check';
import { expect, it } from 'vitest';
import { containsRange, overlaps, parseAddress, parseCidr } from '../../core/model/cidr.ts';
import type { FirewallEntry } from '../../core/model/graph.ts';
import { type Permission, permissionsAt } from './permissions.ts';

const NOW = Date.UTC(2026, 0, 5);

const ports = fc.oneof(
  fc.constant({}),
  fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 })).map(([from, to]) => ({ from, to })),
);
const entry: fc.Arbitrary<FirewallEntry> = fc
  .record({
    cidr: fc.constantFrom('10.0.0.1/32', '10.0.0.0/30', '10.0.0.2/31', '10.0.0.0/29', 'fd00::1/128', 'fd00::/126', 'x'),
    protocol: fc.constantFrom('ALL', 'TCP', 'TCP', 'UDP', 'UDP', 'SCTP', 'ICMP'),
    ports,
    expiresAt: fc.constantFrom(undefined, undefined, '2026-01-04T00:00:00Z', '2026-01-06T00:00:00Z', 'never'),
  })
  .map(({ ports: range, expiresAt, ...rest }) => ({
    ...rest,
    ...range,
    ...(expiresAt !== undefined && { expiresAt }),
  })) as fc.Arbitrary<FirewallEntry>;

const addresses = ['10.0.0.0', '10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.8', 'fd00::1', 'fd00::3'];

/** The meaning of entries, without any cleverness. */
function isPermitted(entries: readonly FirewallEntry[], address: string, protocol: string, port: number): boolean {
  return entries.some(({ cidr, protocol: kind, from, to, expiresAt }) => {
    const [range, point] = [parseCidr(cidr), parseAddress(address)];
    if (!range || !point || !containsRange(range, point)) return false;
    if (expiresAt !== undefined && expiresAt !== '2026-01-06T00:00:00Z') return false;
    if (kind === 'ALL') return true;
    if (kind !== protocol) return false;
    return kind === 'ICMP' || (from !== undefined && to !== undefined && from >= 1 && from <= port && port <= to);
  });
}

function permits(permissions: readonly Permission[], address: string, protocol: string, port: number): boolean {
  const point = parseAddress(address);
  const found = permissions.find(({ range }) => point && containsRange(range, point));
  if (!found) return false;
  if (found.all) return true;
  if (protocol === 'ICMP') return found.icmp;
  return found.ports[protocol as 'TCP'].some(([from, to]) => from <= port && port <= to);
}

it('permits what the entries permit, in ranges that have nothing in common', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 12 }), (entries) => {
      const permissions = permissionsAt(entries, NOW);
      for (const address of addresses) {
        for (const protocol of ['TCP', 'UDP', 'SCTP', 'ICMP']) {
          for (const port of [1, 4, 9]) {
            const expected = isPermitted(entries, address, protocol, port);
            expect([address, protocol, port, permits(permissions, address, protocol, port)]).toEqual([
              address,
              protocol,
              port,
              expected,
            ]);
          }
        }
      }
      for (const [index, { range }] of permissions.entries()) {
        expect(permissions.slice(index + 1).some((other) => overlaps(range, other.range))).toBe(false);
      }
    }),
  );
});

it('joins ports that overlap or touch', () => {
  const tcp = (from: number, to: number): FirewallEntry => ({ cidr: '10.0.0.1/32', protocol: 'TCP', from, to });
  expect(permissionsAt([tcp(90, 100), tcp(1, 3), tcp(4, 5), tcp(95, 200)], NOW)[0]?.ports.TCP).toEqual([
    [1, 5],
    [90, 200],
  ]);
});
