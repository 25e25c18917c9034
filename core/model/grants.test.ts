import { expect, test } from 'vitest';
import { agent, peer, policy } from '../../test/kits/records/records.ts';
import { changedGrants, decidedFields, grantsOf, grantTexts } from './grants.ts';
import { type TokenSpec, tokenDraft } from './token-record.ts';

const token = (spec: Partial<TokenSpec>) =>
  tokenDraft('mesh-join-x', { kind: 'join', name: 'x', owner: '', createdBy: 'user:ada', labels: {}, ...spec });

test('a record grants what its declared fields hold, and an empty field grants nothing', () => {
  expect(grantsOf(token({ deviceLabels: [] }))).toEqual({});
  expect(grantsOf(token({ labels: { role: 'db' }, deviceLabels: ['zone'], network: 'lab', usageLimit: 5 }))).toEqual({
    labels: { role: 'db' },
    deviceLabels: ['zone'],
    network: 'lab',
  });
  expect(grantsOf(peer('web-1', { labels: { role: 'web' }, version: '1.2.3' }))).toEqual({
    labels: { role: 'web' },
    network: 'default',
  });
});

test('a change of any field that grants, limits or binds is found by its name, and no other is', () => {
  const was = peer('web-1', { delegatedBy: 'boss', expiresAt: '2030-01-01T00:00:00.000Z' });
  const is = { ...was, name: 'web-2', labels: { role: 'db' }, spec: { ...was.spec, publicKey: 'x' } };
  expect(changedGrants(was, is)).toEqual(['labels']);
  const { delegatedBy: _, expiresAt: __, ...spec } = was.spec;
  expect(changedGrants(was, { ...was, spec })).toEqual(['delegatedBy', 'expiresAt']);
  expect(changedGrants(token({ usageLimit: 1 }), token({ usageLimit: 2, deviceLabels: ['role'] }))).toEqual([
    'usageLimit',
    'deviceLabels',
  ]);
});

test('what a person decides on has every grant in it, and nothing that each attempt makes anew', () => {
  const [one, two] = [token({ deviceLabels: ['role'], expiresAt: 1 }), token({ deviceLabels: ['role'], expiresAt: 2 })];
  expect(decidedFields(one)).toEqual(decidedFields(two));
  expect(decidedFields(one)).not.toEqual(decidedFields(token({ expiresAt: 1 })));
  const spec = { action: 'ALLOW', peerSelector: {}, expiresAt: '2030-01-01T00:00:00.000Z' } as const;
  expect(decidedFields(policy('open', spec))).toEqual(spec);
});

test('reviewers read grants as plain text, many rules as their number and a digest', () => {
  const reach = Array.from({ length: 9 }, (_, index) => ({ ports: [{ protocol: 'TCP' as const, port: index + 1 }] }));
  expect(grantTexts(agent('boss', { scopes: ['network:read', 'agents:delegate'], tokenUses: 3, reach }))).toEqual({
    policy_preset: 'inherit',
    scopes: 'agents:delegate, network:read',
    token_uses: '3',
    reach: expect.stringMatching(/^9 rules \(SHA-256 [0-9a-f]{16}\)$/),
  });
  expect(grantTexts(token({ labels: { b: '2', a: '1' } }))).toEqual({ labels: 'a=1, b=2' });
  expect(grantTexts(token({ maxGrant: 5_400_000 }))).toEqual({ max_grant: '1h30m' });
});
