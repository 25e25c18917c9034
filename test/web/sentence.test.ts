import { expect, test } from 'vitest';
import type { PolicySpec } from '../../web/src/api/types.ts';
import { actionOf, rulesOf, sentencesOf } from '../../web/src/pages/policies/sentence.ts';

const db = { matchLabels: { role: 'db' } };

test('a policy is told as a sentence for each rule', () => {
  const spec: PolicySpec = {
    action: 'ALLOW',
    peerSelector: db,
    ingress: [
      { from: [{ peerSelector: { peers: ['web-1', 'web-2'] } }], ports: [{ protocol: 'TCP', port: 5432 }] },
      { from: [{ ipBlock: { cidr: '203.0.113.0/24', except: ['203.0.113.8/29'] } }] },
    ],
    egress: [{}],
  };
  expect(sentencesOf(spec)).toEqual([
    'Allows web-1, web-2 → role=db on TCP 5432',
    'Allows 203.0.113.0/24 except 203.0.113.8/29 → role=db on everything',
    'Allows role=db → anyone on everything',
  ]);
});

test('a policy that waits is told in the future', () => {
  const waits = { peerSelector: db, startsAt: '2030-01-31T08:00:00Z' };
  expect(sentencesOf({ ...waits, action: 'DENY', ingress: [{}] })).toEqual([
    'Will deny anyone → role=db on everything',
  ]);
  expect(sentencesOf({ ...waits, action: 'ALLOW', ingress: [{}] })).toEqual([
    'Will allow anyone → role=db on everything',
  ]);
  expect(sentencesOf({ ...waits, action: 'ALLOW', ingress: [] })).toEqual([
    'Will be: Default deny for role=db, ingress',
  ]);
});

test('a policy without rules says what it closes, and everyone is told from peers', () => {
  const base = { action: 'DENY', peerSelector: {} } as const;
  expect(sentencesOf(base)).toEqual(['Default deny for every peer, ingress and egress']);
  expect(sentencesOf({ ...base, action: 'ALLOW', ingress: [] })).toEqual(['Default deny for every peer, ingress']);
  const everyone = { from: ['*' as const, { peerSelector: { notPeers: ['a'] } }] };
  expect(sentencesOf({ ...base, ingress: [everyone, { from: [{ peerSelector: { notPeers: ['a'] } }] }] })).toEqual([
    'Denies anyone → every peer on everything',
    'Denies every peer except a → every peer on everything',
  ]);
});

const ANYONE: PolicySpec['ingress'] = [{ from: ['*'] }];

test.each<[PolicySpec['action'], PolicySpec['ingress'], string]>([
  ['ALLOW', [], 'default deny'],
  ['ALLOW', undefined, 'default deny'],
  ['ALLOW', ANYONE, 'allow'],
  ['DENY', ANYONE, 'deny'],
])('a policy that has %s and the ingress %j is called %s', (action, ingress, name) => {
  const spec: PolicySpec = { action, peerSelector: {}, ...(ingress && { ingress }) };
  expect(actionOf(spec, rulesOf(spec))).toBe(name);
});
