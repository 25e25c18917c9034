import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCidr } from '../../../core/model/cidr.ts';
import { encodeCandidate, isUsableAddress, parseCandidate, priorityOf } from './candidate.ts';

const OVERLAY = [parseCidr('10.96.0.0/24')].flatMap((range) => range ?? []);

describe('candidates', () => {
  test.each([
    [{ type: 'host', address: '192.0.2.1', port: 51_820 }, 'candidate:h4 1 UDP 2130706175 192.0.2.1 51820 typ host'],
    [
      { type: 'host', address: '2001:db8::1', port: 51_820 },
      'candidate:h6 1 UDP 2130706431 2001:db8::1 51820 typ host',
    ],
    [
      { type: 'srflx', address: '198.51.100.7', port: 4_474 },
      'candidate:s4 1 UDP 1694498559 198.51.100.7 4474 typ srflx raddr 0.0.0.0 rport 0',
    ],
  ] as const)('%o has one line and comes back from it', (fields, line) => {
    const candidate = { ...fields, priority: priorityOf(fields.type, fields.address) };
    expect(encodeCandidate(candidate)).toBe(line);
    expect(parseCandidate(line)).toEqual(candidate);
  });

  test('addresses have one text, however they are written', () => {
    expect(parseCandidate('candidate:1 1 udp 1 2001:DB8:0:0::1 9 typ host')?.address).toBe('2001:db8::1');
  });

  test.each([
    'candidate:1 1 TCP 1 192.0.2.1 9 typ host',
    'candidate:1 2 UDP 1 192.0.2.1 9 typ host',
    'candidate:1 1 UDP 1 host.local 9 typ host',
    'candidate:1 1 UDP 1 192.0.2.1 0 typ host',
    'candidate:1 1 UDP 1 192.0.2.1 65536 typ host',
    'candidate:1 1 UDP 4294967296 192.0.2.1 9 typ host',
    'candidate:1 1 UDP 1 192.0.2.1 9 typ relay',
    'candidate:1 1 UDP 1 192.0.2.300 9 typ host',
    '',
  ])('"%s" is none', (line) => {
    expect(parseCandidate(line)).toBeUndefined();
  });

  test('no text makes the parser throw', () => {
    fc.assert(fc.property(fc.string(), (text) => parseCandidate(text) === undefined));
  });

  test('own addresses come before those of NATs, and IPv6 before IPv4', () => {
    const types = ['host', 'prflx', 'srflx'] as const;
    const priorities = types.flatMap((type) => [priorityOf(type, '2001:db8::1'), priorityOf(type, '192.0.2.1')]);
    expect(priorities).toEqual([...priorities].sort((a, b) => b - a));
  });

  test.each([
    ['127.0.0.1', false],
    ['::1', false],
    ['::', false],
    ['0.0.0.0', false],
    ['169.254.1.1', false],
    ['224.0.0.1', false],
    ['255.255.255.255', false],
    ['fe80::1', false],
    ['ff02::1', false],
    ['::ffff:192.0.2.1', false],
    ['fd6c:7270::ca6c:1', false],
    ['10.96.0.7', false],
    ['10.97.0.7', true],
    ['192.168.1.2', true],
    ['fd00::1', true],
    ['2001:db8::1', true],
  ])('checks to %s: %s', (address, expected) => {
    expect(isUsableAddress(address, OVERLAY)).toBe(expected);
  });
});
