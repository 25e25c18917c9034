import { expect, test } from 'vitest';
import type { PolicySpec } from '../../web/src/api/types.ts';
import { documentOf, readPolicy, yamlOf } from '../../web/src/pages/policies/policy-yaml.ts';

const SPEC: PolicySpec = {
  action: 'ALLOW',
  network: 'lab',
  peerSelector: { matchLabels: { role: 'db' }, notPeers: ['db-9'] },
  ingress: [
    {
      from: ['*', { peerSelector: {} }, { ipBlock: { cidr: '203.0.113.0/24', except: ['203.0.113.8/29'] } }],
      ports: [{ protocol: 'TCP', port: 5432, endPort: 5433 }],
    },
  ],
  egress: [],
  expiresAt: '2030-01-31T12:00:00Z',
};

test('a policy that the form can show is the same after it was written as YAML and read', () => {
  const document = documentOf({ name: 'web-to-db', labels: { team: 'ops' }, annotations: {} }, SPEC);
  expect(readPolicy(yamlOf(document))).toEqual({ document });
});

test('what the form cannot show stays with the YAML', () => {
  const shown = (spec: object) => {
    const document = { ...documentOf({ name: 'x' }, SPEC), spec };
    return 'document' in readPolicy(JSON.stringify(document));
  };
  expect(shown(SPEC)).toBe(true);
  expect(shown({ action: 'DENY' })).toBe(true);
  const others = {
    'an unknown field': { ...SPEC, note: 'x' },
    'a list of nobody': { ...SPEC, peerSelector: { peers: [] } },
    'an unknown action': { ...SPEC, action: 'MAYBE' },
    'rules that are no list': { ...SPEC, ingress: {} },
    'an entry of two kinds': { ...SPEC, ingress: [{ from: [{ peerSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] }] },
    'a named port': { ...SPEC, ingress: [{ ports: [{ port: 'http' }] }] },
  };
  for (const [what, spec] of Object.entries(others)) expect([what, shown(spec)]).toEqual([what, false]);
  expect(readPolicy('kind: MeshNetwork')).toEqual({ fault: 'shape' });
  expect(readPolicy('- [')).toEqual({ fault: 'yaml', why: expect.any(String) });
});
