import { expect, test } from 'vitest';
import type { FileResource } from '../core/history/export.ts';
import { movedPeers, planImport } from './import-plan.ts';

const HEAD = 'mesh.internal/v1alpha1';
const peer = (name: string, { key = `key of ${name}`, address = '10.96.0.1', labels = {} } = {}): FileResource => ({
  apiVersion: HEAD,
  kind: 'MeshPeer',
  metadata: { name, labels },
  spec: { network: 'default', publicKey: key },
  status: { address },
});
const policy = (name: string, spec: Record<string, unknown>): FileResource => ({
  apiVersion: HEAD,
  kind: 'MeshPolicy',
  metadata: { name },
  spec: { action: 'ALLOW', peerSelector: {}, ...spec },
});

test('of a peer that has joined its labels and network are imported, and what is its own is not sent', () => {
  const { documents, indexes, missing } = planImport(
    [peer('web-1', { labels: { role: 'web' } }), policy('a', {}), peer('db-1')],
    [peer('DB-1'), peer('other')],
  );
  expect(missing.map(({ name }) => name)).toEqual(['web-1']);
  expect(indexes).toEqual([1, 2]);
  expect(documents[1]).toEqual({
    apiVersion: HEAD,
    kind: 'MeshPeer',
    metadata: { name: 'db-1', labels: {} },
    spec: { network: 'default' },
  });
});

test('a peer that a policy lists anywhere and that has not joined is named with the policy; an id means whom it means', () => {
  const gone = `p_${'a'.repeat(26)}`;
  const lists = {
    peerSelector: { notPeers: ['web-2', gone] },
    ingress: [{ from: [{ peerSelector: { peers: ['web-1', 'db-1'] } }] }],
  };
  const { listed } = planImport([policy('a', lists), policy('b', {})], [peer('db-1')]);
  expect(listed).toEqual([
    { policy: 'a', peer: 'web-2' },
    { policy: 'a', peer: 'web-1' },
  ]);
});

test('a peer of the same name with another key is told, and one whose file names no key is taken by its name', () => {
  const { spec: _, ...unkeyed } = peer('ops-1');
  const { otherKeys } = planImport(
    [peer('web-1'), peer('db-1'), unkeyed],
    [peer('web-1', { key: 'x' }), peer('db-1'), peer('ops-1')],
  );
  expect(otherKeys).toEqual(['web-1']);
});

test('a peer with another address is told where a policy by address tells the two apart, and only there', () => {
  const there = [peer('web-1', { address: '10.96.0.9' })];
  const moved = (ipBlock: object) =>
    movedPeers([peer('web-1'), policy('a', { egress: [{ to: [{ ipBlock }] }] })], there);
  expect(moved({ cidr: '10.96.0.0/24' })).toEqual([]);
  expect(moved({ cidr: '10.97.0.0/24' })).toEqual([]);
  const told = ['web-1 had 10.96.0.1 and has 10.96.0.9: a means one of the two by its address'];
  expect(moved({ cidr: '10.96.0.0/29' })).toEqual(told);
  expect(moved({ cidr: '10.96.0.0/24', except: ['10.96.0.8/29'] })).toEqual(told);
  expect(movedPeers([peer('web-1')], there)).toEqual([]);
});
