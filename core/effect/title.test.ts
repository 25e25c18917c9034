import { expect, it } from 'vitest';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { compile } from '../reachability/engine.ts';
import { modelOf } from '../state/network-model.ts';
import { effectOf } from './effect.ts';
import { effectTitle } from './title.ts';

const PEERS = ['api-1', 'ci-1', 'db-1', 'laptop', 'web-1'].map((name) => peer(name));

it.each([
  [['db-1', 'web-1'], 'closes everything from every other peer (3) to db-1, web-1'],
  [['api-1', 'db-1', 'web-1'], 'closes everything from ci-1, laptop to every other peer (3)'],
])('a title names one of two sides that are all peers together: %s', (names, closed) => {
  const among = names.map((name) => PEERS.find((one) => one.name === name)?.uid ?? '');
  const before = stateWith(...PEERS);
  const after = stateWith(
    ...PEERS,
    policy('apart', {
      action: 'DENY',
      peerSelector: { peers: among },
      ingress: [{ from: [{ peerSelector: { notPeers: among } }] }],
    }),
  );
  const effect = effectOf(compile(modelOf(before, 0)), compile(modelOf(after, 0)));
  expect(effectTitle(effect, after)).toBe(`Opens nothing; ${closed}.`);
});
