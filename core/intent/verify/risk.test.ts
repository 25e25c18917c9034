import fc from 'fast-check';
import { expect, it } from 'vitest';
import { network, peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import { futureOf } from '../../authority/future.ts';
import { type NetworkChange, planChanges } from '../../changes/changes.ts';
import { effectOf } from '../../effect/effect.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import type { NetworkState } from '../../state/state.ts';
import { unseenFindings } from './findings.ts';
import { riskOf } from './risk.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const MARKED = peer('card-1', { labels: { role: 'card', pci: 'true' }, address: '10.96.0.1' });
const PLAIN = peer('card-2', { labels: { role: 'card' }, address: '10.96.0.2' });
const BEFORE = stateWith(
  network('default', { defaultAction: 'DENY' }),
  MARKED,
  PLAIN,
  peer('web-1', { address: '10.96.0.3' }),
  policy('out', { action: 'ALLOW', peerSelector: {}, egress: [{}] }),
);
const REACHED = 'opens new connections to 1 sensitive peer';
const UNMARKED = 'takes the mark of sensitive data from 1 peer';

const opening = (name: string): NetworkChange => ({
  action: 'create',
  resource: 'MeshPolicy',
  name: `to-${name}`,
  spec: {
    action: 'ALLOW',
    peerSelector: { peers: [name] },
    ingress: [{ from: [{ peerSelector: { peers: ['web-1'] } }], ports: [{ port: 443 }] }],
  },
});
const labeled = (name: string, labels: Record<string, string>): NetworkChange => ({
  action: 'update',
  resource: 'MeshPeer',
  name,
  labels,
});

const out = (name: string, ranges: readonly string[]): NetworkChange => ({
  action: 'create',
  resource: 'MeshPolicy',
  name: `out-${name}`,
  spec: {
    action: 'ALLOW',
    peerSelector: { peers: [name] },
    egress: ranges.map((cidr, index) => ({ to: [{ ipBlock: { cidr } }], ports: [{ port: 1_000 + index }] })),
  },
});

function risk(before: NetworkState, after: NetworkState) {
  const [was, is] = [compile(modelOf(before, NOW)), compile(modelOf(after, NOW))];
  return riskOf({ effect: effectOf(was, is), before, after, was, is, callerPeer: undefined, findings: [] });
}

it.each<[string, NetworkChange[], string, string[]]>([
  ['opening a sensitive peer is high', [opening('card-1')], 'high', [REACHED]],
  [
    'taking its label off in the same plan makes it no less',
    [opening('card-1'), labeled('card-1', { role: 'card' })],
    'high',
    [REACHED, UNMARKED],
  ],
  [
    'a value that says no takes the mark off too',
    [labeled('card-1', { role: 'card', pci: 'false' })],
    'high',
    [UNMARKED],
  ],
  [
    'a peer that the same plan marks is sensitive',
    [opening('card-2'), labeled('card-2', { role: 'card', pci: 'true' })],
    'high',
    [REACHED],
  ],
  ['another label of a sensitive peer is no risk', [labeled('card-1', { pci: 'true' })], 'low', []],
])('%s', (_what, changes, level, reasons) => {
  const { after } = planChanges(BEFORE, changes, NOW);
  expect(risk(BEFORE, after)).toEqual({ level, reasons });
});

it('a slice of ports is judged with what is open beside it', () => {
  const slice = (port: number): NetworkChange => ({
    action: 'create',
    resource: 'MeshPolicy',
    name: `slice-${port}`,
    spec: {
      action: 'ALLOW',
      peerSelector: { peers: ['card-2'] },
      ingress: [{ from: [{ peerSelector: { peers: ['web-1'] } }], ports: [{ port, endPort: port + 59 }] }],
    },
  });
  const first = planChanges(BEFORE, [slice(20_100)], NOW).after;
  const second = planChanges(first, [slice(20_200)], NOW).after;
  expect([risk(BEFORE, first).level, risk(first, second).level]).toEqual(['low', 'medium']);
});

it.each<[string, NetworkChange, string]>([
  ['a sensitive peer that reaches out is high', out('card-1', ['8.8.8.0/24']), 'sensitive'],
  [
    'many ranges out come to no less than all of them',
    out(
      'web-1',
      Array.from({ length: 20 }, (_, index) => `${20 + index}.0.0.0/8`),
    ),
    'anyone',
  ],
])('%s', (_what, change, reason) => {
  const before = stateWith(
    network('default', { defaultAction: 'DENY' }),
    MARKED,
    peer('web-1', { address: '10.96.0.3' }),
  );
  const { after } = planChanges(before, [change], NOW);
  expect(risk(before, after)).toEqual({
    level: 'high',
    reasons: [expect.stringContaining(reason)],
  });
});

const CLOSED_BY: readonly (readonly [string, PolicySpec])[] = [
  ['a policy about everyone', { action: 'DENY', peerSelector: {} }],
  ['one about their egress', { action: 'DENY', peerSelector: {}, egress: [] }],
  [
    'one by an expression',
    { action: 'DENY', peerSelector: { matchExpressions: [{ key: 'role', operator: 'Exists' }] } },
  ],
  ['one that lists them', { action: 'DENY', peerSelector: { peers: ['p-a', 'p-b', 'p-c'] } }],
  ['one that leaves out who is gone', { action: 'DENY', peerSelector: { notPeers: ['p-gone'] } }],
  ['one that ends later', { action: 'DENY', peerSelector: {}, expiresAt: '2026-01-06T00:00:00Z' }],
];
const ROLES = ['a', 'b', 'c'].map((role, index) =>
  peer(`${role}-1`, { uid: `p-${role}`, labels: { role }, address: `10.96.0.${index + 1}` }),
);
const OPENED = 'opens the network default by default';

it.each(CLOSED_BY)('a network that was closed by %s and is no more is opened by default', (_what, spec) => {
  const [before, after] = [
    stateWith(network('default'), ...ROLES, policy('base', spec)),
    stateWith(network('default'), ...ROLES),
  ];
  expect(risk(before, after)).toMatchObject({ level: 'critical', reasons: expect.arrayContaining([OPENED]) });
});

it('a policy that has ended closed nothing, so that nothing opens when it goes', () => {
  const ended = policy('base', { action: 'DENY', peerSelector: {}, expiresAt: '2026-01-05T00:00:00Z' });
  expect(risk(stateWith(network('default'), ...ROLES, ended), stateWith(network('default'), ...ROLES))).toEqual({
    level: 'low',
    reasons: [],
  });
});

it('what the example above riskOf says of it holds', () => {
  const [web, card] = [
    peer('web-1', { uid: 'p-web', address: '10.96.0.1' }),
    peer('card-1', { labels: { pci: 'true' }, address: '10.96.0.2' }),
  ];
  const state = (...policies: PolicySpec[]) =>
    stateWith(network('default'), web, card, ...policies.map((spec, index) => policy(`p-${index}`, spec)));
  const rule = { from: [{ peerSelector: { peers: ['p-web'] } }], ports: [{ port: 443 }] };
  const toCard: PolicySpec = { action: 'ALLOW', peerSelector: { matchLabels: { pci: 'true' } }, ingress: [rule] };
  const out: PolicySpec = {
    action: 'ALLOW',
    peerSelector: { peers: ['p-web'] },
    egress: [{ to: [{ peerSelector: {} }] }],
  };
  const closed: PolicySpec = { action: 'DENY', peerSelector: {} };
  const butWeb: PolicySpec = { action: 'DENY', peerSelector: { notPeers: ['p-web'] } };
  const before = state(closed, out);
  expect(risk(before, state(closed, out, toCard))).toEqual({ level: 'high', reasons: [REACHED] });
  expect(risk(before, state(out, toCard))).toMatchObject({
    level: 'critical',
    reasons: expect.arrayContaining([OPENED]),
  });
  expect(risk(before, state(butWeb, out, toCard))).toMatchObject({
    level: 'critical',
    reasons: [expect.stringContaining('lets addresses outside of the network in'), ...Array(3).fill(expect.anything())],
  });
});

const KEYS = { role: ['a', 'b'], env: ['p'] } as const;
const expression = fc.oneof(
  fc.record({
    key: fc.constantFrom('role', 'env'),
    operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const),
  }),
  fc
    .record({
      key: fc.constantFrom('role' as const, 'env' as const),
      operator: fc.constantFrom('In' as const, 'NotIn' as const),
    })
    .chain(({ key, operator }) =>
      fc.subarray<string>([...KEYS[key]], { minLength: 1 }).map((values) => ({ key, operator, values })),
    ),
);
const selector = fc.array(expression, { maxLength: 2 }).map((matchExpressions) => ({ matchExpressions }));
const deny = fc
  .record({
    action: fc.constant('DENY' as const),
    peerSelector: selector,
    rules: fc.constantFrom<Pick<PolicySpec, 'ingress' | 'egress'>>({}, { ingress: [] }, { egress: [] }),
  })
  .map(({ rules, ...spec }): PolicySpec => ({ ...spec, ...rules }));

/** Two devices of every kind that the selectors above tell apart. */
const EVERY_KIND = [undefined, 'a', 'b', 'c'].flatMap((role) => [undefined, 'p', 'q'].map((env) => ({ role, env })));
const devices = EVERY_KIND.flatMap(({ role, env }, index) =>
  [0, 1].map((twin) =>
    peer(`later-${index}-${twin}`, {
      uid: `p-later-${index}-${twin}`,
      labels: { ...(role && { role }), ...(env && { env }) },
      address: `10.96.1.${index * 2 + twin + 1}`,
    }),
  ),
);

it('a change of DENYs that opens any pair of devices, of those to come too, is never of low risk', () => {
  const network1 = network('default');
  fc.assert(
    fc.property(fc.array(deny, { maxLength: 2 }), fc.array(deny, { maxLength: 2 }), (old, now) => {
      const state = (specs: readonly PolicySpec[], peers: readonly ReturnType<typeof peer>[]) =>
        stateWith(network1, ...peers, ...specs.map((spec, index) => policy(`p-${index}`, spec)));
      const [was, is] = [old, now].map((specs) => compile(modelOf(state(specs, devices), NOW)));
      if (!was || !is || effectOf(was, is).openedPairs === 0) return;
      expect(risk(state(old, ROLES), state(now, ROLES)).level).not.toBe('low');
    }),
  );
});

it.each([
  { key: 'role', operator: 'DoesNotExist' as const },
  { key: 'role', operator: 'NotIn' as const, values: ['guest'] },
])('a DENY of everyone that becomes one by %j is of high risk, whoever is there', (narrowed) => {
  const plain = [peer('x-1', { address: '10.96.0.1' }), peer('x-2', { address: '10.96.0.2' })];
  const state = (peerSelector: PolicySpec['peerSelector']) =>
    stateWith(network('default'), ...plain, policy('base', { action: 'DENY', peerSelector }));
  expect(risk(state({}), state({ matchExpressions: [narrowed] }))).toEqual({
    level: 'high',
    reasons: [expect.stringContaining('opens the network default by default to devices with role=')],
  });
});

const ENDS = [{ matchLabels: { role: 'a' } }, { matchLabels: { role: 'b' } }] as const;
const EVERYONE = fc.constantFrom<Pick<PolicySpec, 'ingress'>['ingress']>(
  [{ from: [{ peerSelector: {} }], ports: [{ port: 443 }] }],
  [{ from: ['*'], ports: [{ port: 443 }] }],
  [{ ports: [{ port: 443 }] }],
);

it('an ALLOW that is widened to everyone is of no lower risk in a network of few peers than in one of many', () => {
  const closed = network('default', { defaultAction: 'DENY' });
  const out = policy('out', { action: 'ALLOW', peerSelector: {}, egress: [{ to: [{ peerSelector: {} }] }] });
  const levels = ['low', 'medium', 'high', 'critical'];
  let compared = 0;
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 2, maxLength: 4 }),
      fc.constantFrom(...ENDS, {}),
      fc.constantFrom(...ENDS),
      EVERYONE,
      fc.boolean(),
      (roles, subject, from, ingress, isReplaced) => {
        const levelWith = (copies: number) => {
          const peers = roles.flatMap((role, index) =>
            Array.from({ length: copies }, (_, copy) =>
              peer(`x-${index}-${copy}`, { labels: { role }, address: `10.96.${index}.${copy + 1}` }),
            ),
          );
          const rule = { from: [{ peerSelector: from }], ports: [{ port: 443 }] };
          const narrow = policy('in', { action: 'ALLOW', peerSelector: subject, ingress: [rule] });
          const wide = policy(isReplaced ? 'in-2' : 'in', {
            action: 'ALLOW',
            peerSelector: subject,
            ingress: ingress ?? [],
          });
          return risk(stateWith(closed, ...peers, out, narrow), stateWith(closed, ...peers, out, wide)).level;
        };
        const [few, many] = [levelWith(1), levelWith(12)];
        if (many !== 'low') compared += 1;
        expect({
          roles,
          subject,
          few: levels.indexOf(few) >= levels.indexOf(many) || openedBy(roles, subject, from) === 0,
        }).toMatchObject({ few: true });
      },
    ),
  );
  expect(compared).toBeGreaterThan(20);
});

/** Pairs that open when such an ALLOW is widened, by hand. */
function openedBy(roles: readonly string[], subject: object, from: object): number {
  const means = (selector: object, role: string) =>
    'matchLabels' in selector ? (selector.matchLabels as { role: string }).role === role : true;
  return roles.flatMap((dst, at) =>
    roles.filter((src, index) => index !== at && means(subject, dst) && !means(from, src)),
  ).length;
}

it('a new network is of high risk, as nodes will route its block', () => {
  const after = planChanges(
    BEFORE,
    [
      {
        action: 'create',
        resource: 'MeshNetwork',
        name: 'lab',
        spec: { cidr: '10.99.0.0/24', mtu: 1280, defaultAction: 'DENY' },
      },
    ],
    NOW,
  ).after;
  expect(risk(BEFORE, after)).toEqual({ level: 'high', reasons: ['adds the network lab with the block 10.99.0.0/24'] });
});

it('devices that join later are not counted among the peers of a reason', () => {
  const all = [peer('db-1', { labels: { role: 'db' } }), peer('laptop-1', { labels: { team: 'dev' } })];
  const closed = stateWith(
    network('default', { defaultAction: 'DENY' }),
    ...all.map((one, index) => ({ ...one, status: { ...one.status, address: `10.96.0.${index + 1}` } })),
    policy('out', { action: 'ALLOW', peerSelector: {}, egress: [{}] }),
  );
  const change: NetworkChange = {
    ...{ action: 'create', resource: 'MeshPolicy', name: 'ssh' },
    spec: {
      action: 'ALLOW',
      peerSelector: { matchLabels: { role: 'db' } },
      ingress: [{ from: [{ peerSelector: { matchLabels: { team: 'dev' } } }], ports: [{ port: 22 }] }],
    },
  };
  const { after } = planChanges(closed, [change], NOW);
  const [was, is] = [compile(modelOf(closed, NOW)), compile(modelOf(after, NOW))];
  const whole = { before: closed, after, was, is, effect: effectOf(was, is), now: NOW };
  const joins = [{ labels: { role: 'db' }, network: 'default' }];
  const future = futureOf(whole, { joins, isPersons: true }, { reachability: (state) => compile(modelOf(state, NOW)) });
  const { reasons } = riskOf({ ...whole, callerPeer: undefined, findings: [], future });
  expect(reasons).toEqual([
    "opens the management port 22 to a person's device or CI, on 1 peer and devices that join later",
    "opens the management port 22 to a person's device or CI",
  ]);
  expect(unseenFindings({ effect: whole.effect, future }).map(({ message }) => message)).toEqual([
    'laptop-1 reaches every device that joins later with role=db on TCP 22',
  ]);
});
