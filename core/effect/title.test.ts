import { expect, it } from 'vitest';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { compile } from '../reachability/engine.ts';
import { modelOf } from '../state/network-model.ts';
import { effectOf } from './effect.ts';
import { namedTerms } from './named-terms.ts';
import { effectTitle } from './title.ts';

const PEERS = ['api-1', 'ci-1', 'db-1', 'laptop', 'web-1'].map((name) => peer(name));

it('what is wider than pairs of peers is in the title: addresses first, then who joins later, then the controls that fail', () => {
  const [before, spec] = [stateWith(...PEERS), { action: 'DENY', peerSelector: {} } as const];
  const closed = stateWith(...PEERS, policy('base', spec));
  const effect = effectOf(compile(modelOf(closed, 0)), compile(modelOf(before, 0)));
  const beside = { later: ['every device that joins later reaches db-1', 'more'], failing: ['A-1', 'A-2', 'A-3'] };
  expect(effectTitle(effect, before, beside)).toBe(
    'Opens everything from outside to every peer (5), and everything from every peer (5) to every peer (5), and 1 more; every device that joins later reaches db-1, and 1 more; closes nothing; fails A-1, A-2, and 1 more.',
  );
});

const LAPTOPS = [1, 2].map((n) => peer(`mac-${n}`, { labels: { env: 'office', os: 'macos', role: 'laptop' } }));
const SERVERS = [1, 2].map((n) => peer(`shop-${n}`, { labels: { env: 'prod', role: 'web', site: 'one' } }));

it.each([
  ['the labels of the changed policy', [], 'role=laptop (2 peers) to env=prod,role=web (2 peers)'],
  ['a term that the order says', ['os=macos', 'shop-1', '*'], 'os=macos (2 peers) to env=prod,role=web (2 peers)'],
])('a title names peers by %s, before other labels that the same peers have', (_what, terms, connections) => {
  const before = stateWith(...LAPTOPS, ...SERVERS, ...PEERS);
  const after = stateWith(
    ...before.peers.values(),
    policy('no-web', {
      action: 'DENY',
      peerSelector: {
        matchLabels: { env: 'prod' },
        matchExpressions: [{ key: 'role', operator: 'In', values: ['web'] }],
      },
      ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'laptop' } } }], ports: [{ port: 443 }] }],
    }),
  );
  const effect = effectOf(compile(modelOf(before, 0)), compile(modelOf(after, 0)));
  const named = namedTerms({ terms, policies: ['no-web', 'gone'] }, before, after);
  expect(effectTitle(effect, after, { named })).toBe(`Opens nothing; closes TCP 443 from ${connections}.`);
});

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
