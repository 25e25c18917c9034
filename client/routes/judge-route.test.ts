import fc from 'fast-check';
import { expect, test } from 'vitest';
import { overlaps, parseCidr } from '../../core/model/cidr.ts';
import { DNS_RESOLVER, judgeRoute, type RouteFacts, refusalText, unacceptable } from './judge-route.ts';

const NOTHING: RouteFacts = { accepted: [], used: [], translated: [], collisions: [], isAlone: false };
const codeOf = (cidr: string, facts: Partial<RouteFacts> = {}) => {
  const verdict = judgeRoute(cidr, { ...NOTHING, ...facts });
  if ('refusal' in verdict) return verdict.refusal.code;
  return verdict.warning ? `carried: ${verdict.warning.code}` : 'routed';
};

test.each(['10.0.0.0/8', '10.96.0.0/24', '172.16.0.0/12', '192.168.7.0/24', '100.64.0.0/10'])(
  'the private block %s is routed without a word of the person of this host',
  (cidr) => expect(codeOf(cidr)).toBe('routed'),
);

test.each(['0.0.0.0/0', '0.0.0.0/1', '128.0.0.0/1', '64.0.0.0/2', '8.0.0.0/7', 'fd00::/8', 'nonsense'])(
  '%s is never routed, whatever is accepted',
  (cidr) => expect(codeOf(cidr, { accepted: [cidr, '0.0.0.0/0'] })).toBe('too-wide'),
);

test.each(['127.77.0.0/16', '169.254.0.0/16', '224.0.0.0/8', '203.0.113.0/24', '198.18.0.0/15', '240.0.0.0/8'])(
  'the reserved block %s is never routed, whatever is accepted',
  (cidr) => expect(codeOf(cidr, { accepted: [cidr] })).toBe('special'),
);

test('a public block is routed once a block that holds it is accepted, and one beside it is not', () => {
  expect(codeOf('8.8.8.0/24')).toBe('not-accepted');
  expect(codeOf('8.8.8.0/24', { accepted: ['8.8.0.0/16'] })).toBe('routed');
  expect(codeOf('8.8.8.0/24', { accepted: ['8.8.8.0/25', '9.0.0.0/8'] })).toBe('not-accepted');
});

test.each(['the control plane', 'the bus', 'a relay', 'a STUN server'])(
  'a block with the address of %s is not routed, accepted or not',
  (of) => {
    const used = [{ of, address: '10.5.0.1' }];
    expect(codeOf('10.0.0.0/8', { used, accepted: ['10.0.0.0/8'] })).toBe('control-plane');
    expect(codeOf('10.96.0.0/24', { used })).toBe('routed');
  },
);

test('a block with a DNS resolver of the host is routed only once it is accepted: the resolver may be a peer', () => {
  const used = [{ of: DNS_RESOLVER, address: '10.96.0.53' }];
  expect(codeOf('10.96.0.0/24', { used })).toBe('control-plane');
  expect(codeOf('10.96.0.0/24', { used, accepted: ['10.96.0.0/24'] })).toBe('routed');
});

test('a block that overlaps a route of this host is not routed, and the text names it and what to do', () => {
  const verdict = judgeRoute('192.168.7.0/24', { ...NOTHING, collisions: ['192.168.7.0/24 on eth0'] });
  expect('refusal' in verdict && refusalText(verdict.refusal)).toMatch(
    /^The block 192\.168\.7\.0\/24 is not routed: it overlaps a route of this host: 192\.168\.7\.0\/24 on eth0\. Remove that route\. Or have an administrator/,
  );
});

test('the block that a host with Kubernetes is advised lies outside of its services and of all that the host is known to use', () => {
  const block = fc
    .tuple(fc.integer({ min: 10, max: 32 }), fc.nat(255), fc.nat(255))
    .map(([prefix, b, c]) => `10.${prefix < 16 ? b & (0xff << (16 - prefix)) : b}.${prefix < 24 ? 0 : c}.0/${prefix}`);
  const check = (collisions: readonly string[]) => {
    const translated = ['10.96.0.1 (chain KUBE-SERVICES of the table ip nat)'];
    const verdict = judgeRoute('10.96.0.0/24', {
      ...NOTHING,
      translated,
      collisions: collisions.map((one) => `${one} on eth0`),
    });
    const remedy = 'refusal' in verdict ? verdict.refusal.remedy : '';
    const advised = parseCidr(/such as ([\d./]+)\.( |$)/.exec(remedy)?.[1] ?? '');
    if (advised === undefined) return expect(remedy).toContain('another private block.');
    for (const text of ['10.96.0.0/12', ...collisions]) {
      const taken = parseCidr(text);
      expect([text, taken && overlaps(taken, advised)]).toEqual([text, false]);
    }
  };
  fc.assert(fc.property(fc.array(block, { maxLength: 12 }), check));
});

test('a block whose addresses the host translates is not routed, and the text names them and how to renumber', () => {
  const translated = ['10.96.0.1, 10.96.0.10 (chain KUBE-SERVICES of the table ip nat)'];
  const verdict = judgeRoute('10.96.0.0/24', { ...NOTHING, translated });
  expect('refusal' in verdict && refusalText(verdict.refusal)).toMatch(
    /^The block 10\.96\.0\.0\/24 is not routed: this host translates .*: 10\.96\.0\.1, 10\.96\.0\.10 \(chain KUBE-SERVICES of the table ip nat\)\. Have an administrator .* such as 10\.200\.0\.0\/24\./,
  );
  expect(codeOf('10.96.0.0/24', { translated, accepted: ['10.96.0.0/16'] })).toBe('routed');
  expect(codeOf('10.96.0.0/24', { translated, carried: '10.96.0.0/24' })).toBe('carried: translated');
  expect(codeOf('10.96.0.0/24', { translated, isAlone: true })).toBe('routed');
});

test('a block that cut the node off stays away until it is accepted, and no other block does', () => {
  const withdrawn = '10.96.0.0/24';
  expect(codeOf('10.96.0.0/24', { withdrawn })).toBe('cut-off');
  expect(codeOf('10.97.0.0/24', { withdrawn })).toBe('routed');
  expect(codeOf('10.96.0.0/24', { withdrawn, accepted: ['10.96.0.0/24'] })).toBe('routed');
});

test('a block of an earlier version stays with a warning, but takes no route of this host away', () => {
  const carried = '8.8.8.0/24';
  expect(codeOf('8.8.8.0/24', { carried })).toBe('carried: not-accepted');
  expect(codeOf('8.8.8.0/24', { carried, used: [{ of: 'the bus', address: '8.8.8.8' }] })).toBe(
    'carried: control-plane',
  );
  expect(codeOf('8.8.8.0/24', { carried, collisions: ['8.8.8.0/24 on eth0'] })).toBe('own-network');
  expect(codeOf('8.8.4.0/24', { carried })).toBe('not-accepted');
});

test('where nothing else is, as in a sandbox, a public block takes nothing away', () => {
  expect(codeOf('8.8.8.0/24', { isAlone: true })).toBe('routed');
  expect(codeOf('127.0.0.0/8', { isAlone: true })).toBe('special');
});

test.each([
  ['8.8.8.8', 'no IPv4 block'],
  ['fd00::/8', 'no IPv4 block'],
  ['0.0.0.0/1', 'wider than /8'],
  ['169.254.0.0/16', 'link-local'],
])('%s cannot be accepted: %s', (cidr, why) => expect(unacceptable(cidr)).toContain(why));

test('what a person may accept is a public or a private block', () => {
  expect([unacceptable('8.8.8.0/24'), unacceptable('10.0.0.0/8')]).toEqual([undefined, undefined]);
});
