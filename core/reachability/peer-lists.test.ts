import { expect, test } from 'vitest';
import { compile } from './engine.ts';
import type { NetworkModel } from './model.ts';

const PEERS = 300;
const id = (index: number) => `id${index}`;
const listed = (from: number, to: number) => ({
  peers: Array.from({ length: to - from }, (_, index) => id(from + index)),
});

function modelWith(...selectors: readonly object[]): NetworkModel {
  return {
    networks: [{ name: 'n', cidr: '10.96.0.0/16', defaultAction: 'ALLOW' }],
    peers: Array.from({ length: PEERS }, (_, index) => ({
      name: `p${index}`,
      uid: id(index),
      labels: {},
      network: 'n',
    })),
    policies: selectors.map((peerSelector, index) => ({
      name: `pol${index}`,
      spec: { action: 'DENY', peerSelector, ingress: [{}] },
    })),
    now: 0,
  };
}

test.each([
  ['a list of many peers divides them as one label would', [listed(0, 200)], 2],
  ['lists that overlap divide them into those of one, of both and of none', [listed(0, 200), listed(100, 250)], 4],
  ['the same list again divides nothing more', [listed(0, 9), { notPeers: listed(0, 9).peers.toReversed() }], 2],
  ['ids that nobody has divide nothing', [{ peers: ['gone'] }], 1],
  ['an empty list divides nothing', [{ peers: [] }], 1],
])('%s', (_title, selectors, classes) => {
  expect(compile(modelWith(...selectors)).parts.space.classes).toHaveLength(classes);
});
