import { describe, expect, test } from 'vitest';
import { policySpecSchema } from './policy.ts';

const allowFrom = (entry: unknown) => ({ action: 'ALLOW', ingress: [{ from: [entry] }] });
const allowPort = (port: unknown) => ({ action: 'ALLOW', egress: [{ ports: [port] }] });

function problemsOf(spec: unknown): string[] {
  const { error } = policySpecSchema.safeParse(spec);
  return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
}

const FROM = 'ingress.0.from.0';
const PORT = 'egress.0.ports.0';
const KEY_FORM = 'a label key is 1 to 63 letters, digits, "-", "_" or ".", optionally after a "domain/" prefix';
const VALUE_FORM = 'a label value is 1 to 63 letters, digits, "-", "_" or "."';
const CIDR_FORM = 'a CIDR such as 10.96.0.0/24 or fd00::/8 is needed';
const PORT_FORM = 'a port is a whole number from 1 to 65535';

describe('policySpecSchema', () => {
  test.each([
    [{ action: 'DENY' }],
    [{ action: 'DENY', peerSelector: {} }],
    [{ action: 'ALLOW', ingress: [], egress: [] }],
    [allowFrom('*')],
    [allowFrom({ peerSelector: {} })],
    [allowFrom({ peerSelector: { matchExpressions: [{ key: 'k8s.io/role', operator: 'NotIn', values: ['db'] }] } })],
    [allowFrom({ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } })],
    [allowFrom({ ipBlock: { cidr: 'fd00::/8' } })],
    [allowPort({})],
    [allowPort({ port: 80, endPort: 80 })],
    [allowPort({ protocol: 'ICMP' })],
    [{ action: 'ALLOW', network: 'prod', expiresAt: '2030-01-31T12:00:00Z', ingress: [{ ports: [] }] }],
  ])('accepts %j unchanged', (spec) => {
    expect(policySpecSchema.parse(spec)).toEqual(spec);
  });

  test.each([
    [{}, 'action: action is ALLOW or DENY'],
    [{ action: 'ALLOW', priority: 1 }, ': Unrecognized key: "priority"'],
    [{ action: 'ALLOW', expiresAt: 'soon' }, 'expiresAt: expiresAt is an ISO 8601 time such as 2030-01-31T12:00:00Z'],
    [{ action: 'DENY', peerSelector: { matchLabels: { '': 'x' } } }, `peerSelector.matchLabels.: ${KEY_FORM}`],
    [{ action: 'DENY', peerSelector: { matchLabels: { 'a b': 'x' } } }, `peerSelector.matchLabels.a b: ${KEY_FORM}`],
    [{ action: 'DENY', peerSelector: { matchLabels: { role: '' } } }, `peerSelector.matchLabels.role: ${VALUE_FORM}`],
    [allowFrom({ ipBlock: { cidr: '10.0.0.0' } }), `${FROM}.ipBlock.cidr: ${CIDR_FORM}`],
    [
      allowFrom({ ipBlock: { cidr: 'fd00::/16', except: ['fd01::/16'] } }),
      `${FROM}.ipBlock.except.0: fd01::/16 lies outside cidr fd00::/16`,
    ],
    [
      allowFrom({ ipBlock: { cidr: '::/0', except: ['10.0.0.0/8'] } }),
      `${FROM}.ipBlock.except.0: 10.0.0.0/8 lies outside cidr ::/0`,
    ],
    [
      allowFrom({ peerSelector: {}, ipBlock: { cidr: '::/0' } }),
      `${FROM}: exactly one of peerSelector and ipBlock is needed`,
    ],
    [allowFrom({}), `${FROM}: exactly one of peerSelector and ipBlock is needed`],
    [allowFrom('anyone'), `${FROM}: an entry is "*", {peerSelector: …} or {ipBlock: {cidr, except?}}`],
    [
      allowFrom({ peerSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }),
      `${FROM}.peerSelector.matchExpressions.0.values: In needs at least one value`,
    ],
    [
      allowFrom({ peerSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } }),
      `${FROM}.peerSelector.matchExpressions.0.values: Exists takes no values`,
    ],
    [allowPort({ port: 0 }), `${PORT}.port: ${PORT_FORM}`],
    [allowPort({ port: 65_536 }), `${PORT}.port: ${PORT_FORM}`],
    [allowPort({ port: 1.5 }), `${PORT}.port: ${PORT_FORM}`],
    [allowPort({ port: 80, endPort: 79 }), `${PORT}.endPort: endPort 79 is below port 80`],
    [allowPort({ endPort: 79 }), `${PORT}.endPort: endPort needs port`],
    [allowPort({ protocol: 'ICMP', port: 8 }), `${PORT}.port: ICMP has no ports`],
    [allowPort({ protocol: 'tcp' }), `${PORT}.protocol: protocol is TCP, UDP, SCTP or ICMP`],
  ])('refuses %j and names the field', (spec, problem) => {
    expect(problemsOf(spec)).toEqual([problem]);
  });

  test('a thousand entries in a rule are accepted and more than the bound are not', () => {
    const withEntries = (count: number) => ({ action: 'ALLOW', ingress: [{ from: new Array(count).fill('*') }] });
    expect(problemsOf(withEntries(1_000))).toEqual([]);
    expect(problemsOf(withEntries(4_001))).toHaveLength(1);
  });
});
