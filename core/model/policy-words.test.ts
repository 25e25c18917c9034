import { expect, test } from 'vitest';
import { type PolicySpec, policySpecSchema } from './policy.ts';
import { policyText } from './policy-words.ts';

const db = { matchLabels: { role: 'db' } };
const web = { peerSelector: { matchLabels: { role: 'web' } } };

test.each<[string, PolicySpec]>([
  [
    'From 2026-01-05T14:00:00Z on: ALLOW no ingress to role=db; egress not touched',
    { action: 'ALLOW', peerSelector: db, ingress: [], startsAt: '2026-01-05T14:00:00.000Z' },
  ],
  ['DENY all ingress to every peer that no ALLOW opens; egress not touched', { action: 'DENY', ingress: [] }],
  [
    'DENY all ingress to every peer that no ALLOW opens; all egress from every peer that no ALLOW opens',
    { action: 'DENY', peerSelector: {} },
  ],
  ['DENY ingress to every peer from anyone on everything; egress not touched', { action: 'DENY', ingress: [{}] }],
  ['ALLOW no ingress to role=db; no egress from role=db', { action: 'ALLOW', peerSelector: db }],
  [
    'ALLOW ingress to role=db only from role=web on TCP/5432, or from 192.0.2.0/24 except 192.0.2.9/32 on TCP/8000-8100, ICMP; egress not touched',
    {
      action: 'ALLOW',
      peerSelector: db,
      ingress: [
        { from: [web], ports: [{ port: 5432 }] },
        {
          from: [{ ipBlock: { cidr: '192.0.2.0/24', except: ['192.0.2.9/32'] } }],
          ports: [{ port: 8000, endPort: 8100 }, { protocol: 'ICMP' }],
        },
      ],
    },
  ],
  [
    'DENY egress from web-1, web-2 of network office to every peer except db-1 on UDP; ingress not touched',
    {
      action: 'DENY',
      network: 'office',
      peerSelector: { peers: ['web-1', 'web-2'] },
      egress: [{ to: [{ peerSelector: { notPeers: ['db-1'] } }], ports: [{ protocol: 'UDP' }] }],
    },
  ],
  [
    'ALLOW ingress to env in (prod, stage), tier!=old, gpu, !legacy only from nobody on everything; egress not touched',
    {
      action: 'ALLOW',
      peerSelector: {
        matchExpressions: [
          { key: 'env', operator: 'In', values: ['prod', 'stage'] },
          { key: 'tier', operator: 'NotIn', values: ['old'] },
          { key: 'gpu', operator: 'Exists' },
          { key: 'legacy', operator: 'DoesNotExist' },
        ],
      },
      ingress: [{ from: [{ peerSelector: { peers: [] } }] }],
    },
  ],
])('%s', (text, spec) => {
  expect(policyText(policySpecSchema.parse(spec))).toBe(text);
});

test('a line names the first of many, and counts the rest', () => {
  const peers = Array.from({ length: 20 }, (_, index) => `p-${index}`);
  const text = policyText({ action: 'DENY', peerSelector: { peers }, ingress: [] });
  expect(text).toBe(
    'DENY all ingress to p-0, p-1, p-2, p-3, p-4, p-5, p-6, p-7 and 12 more that no ALLOW opens; egress not touched',
  );
});
