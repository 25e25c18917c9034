import { describe, expect, it } from 'vitest';
import type { PeerRecord } from '../../core/model/resources.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { network, peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { retrieve } from './retrieval.ts';
import { MAX_SUBGRAPH_BYTES, type Subgraph } from './subgraph.ts';

const ROLES = ['web', 'db', 'api', 'cache', 'worker', 'queue', 'mail', 'search', 'build', 'log'] as const;

/** The named ones first, then as many others as fill the network; labels, policies and networks grow with it. */
function networkOf(size: number): NetworkState {
  const named = [
    peer('web-1', { labels: { role: 'web', zone: 'eu' }, address: '10.96.0.11' }),
    peer('db-1', { labels: { role: 'db', zone: 'eu' }, address: '10.96.0.12' }),
    peer('Billing.API', { labels: { app: 'billing', tier: 'back-end' } }),
    peer('café_printer'.replace('é', 'e'), { labels: { kind: 'printer' } }),
    peer('laptop-ada', { labels: { owner: 'ada' }, network: 'office', address: '10.99.0.7' }),
  ];
  const others = Array.from({ length: Math.max(0, size - named.length) }, (_, at) =>
    peer(`node-${at}`, {
      labels: { role: `${ROLES[at % ROLES.length]}${at % 3 === 0 ? '' : `-${at % 97}`}`, team: `team-${at % 200}` },
      address: `10.${100 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`,
    }),
  );
  const policies = [
    policy('web-to-db', {
      action: 'ALLOW',
      peerSelector: { matchLabels: { role: 'db' } },
      ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ port: 5432 }] }],
    }),
    policy('partners', {
      action: 'ALLOW',
      peerSelector: { matchLabels: { app: 'billing' } },
      ingress: [{ from: [{ ipBlock: { cidr: '203.0.113.0/24' } }], ports: [{ port: 443 }] }],
    }),
    policy('base', { action: 'DENY', peerSelector: {} }),
    ...Array.from({ length: Math.floor(size / 20) }, (_, at) =>
      policy(`team-${at}-inside`, {
        action: 'ALLOW',
        peerSelector: { matchLabels: { team: `team-${at}` } },
        ingress: [{ from: [{ peerSelector: { matchLabels: { team: `team-${at}` } } }], ports: [{ port: 9000 + at }] }],
      }),
    ),
  ];
  return stateWith(network('default'), network('office', { cidr: '10.99.0.0/16' }), ...named, ...others, ...policies);
}

const has = {
  peer: (name: string) => (found: Subgraph) => found.peers.some((one) => one.name === name),
  label: (label: string) => (found: Subgraph) => found.labels.some((one) => one.label === label),
  policy: (name: string) => (found: Subgraph) => found.policies.some((one) => one.name === name && one.spec),
  network: (name: string) => (found: Subgraph) => found.networks.some((one) => one.name === name),
};

/** Intents, and what a planner must be shown to plan each. */
const CORPUS: readonly (readonly [string, readonly ((found: Subgraph) => boolean)[]])[] = [
  [
    'let web-1 reach db-1 on 5432',
    [has.peer('web-1'), has.peer('db-1'), has.label('role=db'), has.policy('web-to-db')],
  ],
  ['let Web 1 reach DB_1', [has.peer('web-1'), has.peer('db-1')]],
  ['let the webs reach the databases', [has.label('role=web'), has.label('role=db'), has.policy('web-to-db')]],
  ['let nobody but the pritner out', [has.label('kind=printer'), has.policy('base')]],
  ['open postgres to the web tier', [has.label('role=web'), has.label('role=db')]],
  [
    'the billing api must not be seen by anyone',
    [has.peer('Billing.API'), has.label('app=billing'), has.policy('partners')],
  ],
  ['close the billling app to partners', [has.label('app=billing'), has.policy('partners')]],
  ['print from everywhere on the cafe printer', [has.peer('cafe_printer'), has.label('kind=printer')]],
  ['lassen wir zone=eu mit tier=back-end reden', [has.label('zone=eu'), has.label('tier=back-end')]],
  ['what may 10.96.0.12 be reached by?', [has.peer('db-1'), has.policy('web-to-db')]],
  ['shut out 203.0.113.0/25', [has.policy('partners'), ({ cidrs }) => cidrs.includes('203.0.113.0/25')]],
  ['nobody in the office network talks to db', [has.network('office'), has.label('role=db')]],
  ['isolate ada', [has.label('owner=ada'), has.peer('laptop-ada'), has.network('office')]],
  ['delete the policy web to db', [has.policy('web-to-db')]],
  ['tag web-1 as stage=gold', [has.peer('web-1'), ({ newLabels }) => newLabels.includes('stage=gold')]],
  ['what speaks https today?', [has.policy('partners')]],
  ['who is on port 443', [has.policy('partners')]],
  ['back-end hosts of eu only', [has.label('tier=back-end'), has.label('zone=eu')]],
];

const NETWORKS = new Map([5, 500, 10_000, 100_000].map((size) => [size, networkOf(size)]));

describe.each([...NETWORKS])('of a network of %i peers, what an intent needs', (_size, state) => {
  it.each(CORPUS)('is found: %s', (intent, needs) => {
    const found = retrieve({ intent, state });
    expect(needs.map((need) => need(found))).toEqual(needs.map(() => true));
  });

  it('stays under one size for every intent', () => {
    const sizes = CORPUS.map(([intent]) => JSON.stringify(retrieve({ intent, state })).length);
    expect(Math.max(...sizes)).toBeLessThan(MAX_SUBGRAPH_BYTES);
  });
});

describe('the part of a network given to a planner', () => {
  it('is as large at 100,000 peers as at 500', () => {
    const sizeAt = (size: number) =>
      JSON.stringify(retrieve({ intent: 'let web reach db', state: NETWORKS.get(size) ?? stateWith() })).length;
    expect(sizeAt(100_000) / sizeAt(500)).toBeLessThan(1.2);
  });

  it('says how much was left out', () => {
    const state = NETWORKS.get(10_000) ?? stateWith();
    const { peers, labels, policies, networks, leftOut } = retrieve({ intent: 'let web reach db', state });
    expect(leftOut.peers + peers.length).toBe(10_000);
    expect(leftOut.policies + policies.length).toBe(503);
    expect(leftOut.networks + networks.length).toBe(2);
    expect(leftOut.labels).toBeGreaterThan(labels.length);
  });

  it('is the same whatever the order in which the records came', () => {
    const records = (state: NetworkState) => [
      ...state.networks.values(),
      ...state.peers.values(),
      ...state.policies.values(),
    ];
    const state = NETWORKS.get(500) ?? stateWith();
    const turned = stateWith(...records(state).toReversed());
    for (const [intent] of CORPUS) expect(retrieve({ intent, state: turned })).toEqual(retrieve({ intent, state }));
  });

  it('holds what was named earlier in the conversation', () => {
    const state = NETWORKS.get(10_000) ?? stateWith();
    const found = retrieve({ intent: 'and on port 80 too', history: ['let laptop-ada reach Billing.API'], state });
    expect([has.peer('laptop-ada')(found), has.peer('Billing.API')(found)]).toEqual([true, true]);
  });

  it('shows a policy that is too long without its rules, and a peer with many labels with a few of them', () => {
    const entries = Array.from({ length: 400 }, (_, at) => ({ ipBlock: { cidr: `198.51.${at >> 8}.${at & 255}/32` } }));
    const giant = policy('giant', { action: 'ALLOW', peerSelector: {}, ingress: [{ from: entries }] });
    const labels = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`key-${at}`, 'v'.repeat(60)]));
    const found = retrieve({ intent: 'change giant for loaded', state: stateWith(giant, peer('loaded', { labels })) });
    expect(found.policies).toEqual([{ name: 'giant', action: 'ALLOW' }]);
    const [shown] = found.peers;
    expect(Object.keys(shown?.labels ?? {}).length + (shown?.moreLabels ?? 0)).toBe(60);
    expect(JSON.stringify(shown).length).toBeLessThan(800);
  });

  it('takes no peer that is revoked or has expired', () => {
    const gone: PeerRecord[] = [peer('old-1', { phase: 'revoked' }), peer('old-2', { phase: 'expired' })];
    expect(retrieve({ intent: 'open old-1 and old-2', state: stateWith(...gone) }).peers).toEqual([]);
  });
});
