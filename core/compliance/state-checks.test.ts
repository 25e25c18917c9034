import { describe, expect, test } from 'vitest';
import { agent, network, peer, policy, stateWith } from '../../test/kits/records/records.ts';
import type { StoredRecord } from '../base/record.ts';
import { planChanges } from '../changes/changes.ts';
import type { PeerEntry, PolicySpec, PortEntry, Selector } from '../model/policy.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { StateCheck } from './checks/check.ts';
import { CHECKS, type CheckName } from './checks/index.ts';
import { scopeRule } from './scope.ts';
import { viewer } from './sweep.ts';

/** For each check of states a network that passes, one that fails, and one in which there is nothing to judge. */

const NOW = Date.UTC(2026, 0, 5);
const DAY_MS = 86_400_000;
const MINUTES_AGO = '2026-01-04T23:55:00Z';
const YEARS_AGO = NOW - 500 * DAY_MS;

const card = (extra: object = {}) =>
  peer('card-1', { labels: { 'compliance.scope': 'cde' }, address: '10.96.0.2', ...extra });
const withStatus = (status: Partial<PeerRecord['status']>): PeerRecord => ({
  ...card(),
  status: { ...card().status, ...status },
});
const web = (labels: Record<string, string> = { role: 'web' }) => peer('web-1', { labels, address: '10.96.0.3' });
const CDE = { matchLabels: { 'compliance.scope': 'cde' } };
const WEB = { peerSelector: { matchLabels: { role: 'web' } } };
const base = policy('base', { action: 'DENY', peerSelector: {} });
const allow = (rule: NonNullable<PolicySpec['ingress']>[number], annotations: Record<string, string> = {}) => ({
  ...policy('grant', { action: 'ALLOW', peerSelector: CDE, ingress: [rule] }),
  annotations,
});
const everyone = allow({ from: ['*'] });
const fromWeb = allow({ from: [WEB], ports: [{ port: 443 }] });
const fromAddress = (cidr: string) => allow({ from: [{ ipBlock: { cidr } }] });

/** Peers told by what is said of the label `env`, which neither of them has. */
const bySelector = (operator: 'Exists' | 'DoesNotExist' | 'NotIn', values?: string[]) => ({
  peerSelector: { matchExpressions: [{ key: 'env', operator, ...(values && { values }) }] },
});
const outTo = (rule: NonNullable<PolicySpec['egress']>[number]) =>
  policy('out', { action: 'ALLOW', peerSelector: CDE, egress: [rule] });
const anyToAny = (peerSelector: Selector, ports?: PortEntry[], entry: PeerEntry = { peerSelector }) => {
  const some = ports && { ports };
  return policy('any', {
    action: 'ALLOW',
    peerSelector,
    ingress: [{ from: [entry], ...some }],
    egress: [{ to: [entry], ...some }],
  });
};
const threeWebs = [1, 2, 3].map((last) =>
  peer(`web-${last}`, { labels: { role: 'web' }, address: `10.96.0.${last + 2}` }),
);

/** Anyone without a `*`. */
const anyoneBySpelling = [
  [allow({ from: [bySelector('DoesNotExist')] }), card(), web()],
  [allow({ from: [bySelector('NotIn', ['test'])] }), card(), web()],
  [allow({ from: [{ peerSelector: { notPeers: ['p_x'] } }] }), card(), web()],
  [allow({ from: [bySelector('Exists'), bySelector('DoesNotExist')] }), card(), web()],
  [allow({ from: [{ ipBlock: { cidr: '10.96.0.0/12' } }] }), card(), network('default', { cidr: '10.96.0.0/16' })],
];
/** Sixteen policies of a /9 each: none has more addresses than one organisation, together they have 128 million. */
const manySmallRanges = Array.from({ length: 16 }, (_, index) =>
  policy(`small-${index}`, {
    action: 'ALLOW',
    peerSelector: CDE,
    ingress: [{ from: [{ ipBlock: { cidr: `${index + 20}.0.0.0/9` } }] }],
  }),
);
/** Each part on a port of its own. */
const apartByPort = manySmallRanges.map((one, index) => {
  const [rule] = one.spec.ingress ?? [];
  return { ...one, spec: { ...one.spec, ingress: [{ ...rule, ports: [{ port: 4_000 + index }] }] } };
});

interface Case {
  readonly passes: readonly (readonly StoredRecord[])[];
  readonly fails: readonly (readonly StoredRecord[])[];
  readonly nothing: readonly (readonly StoredRecord[])[];
  /** Whether policies that are changed mend what fails; else people do it. */
  readonly mends: boolean;
  readonly sources?: readonly string[];
}

const closedBothWays = policy('both', { action: 'ALLOW', peerSelector: {}, ingress: [], egress: [] });
const inward = policy('inward', { action: 'DENY', peerSelector: {}, ingress: [] });

const TABLE: Readonly<Record<StateCheckName, Case>> = {
  'deny-all-base': {
    passes: [
      [base, card()],
      [closedBothWays, card()],
      [network('default', { defaultAction: 'DENY' }), card()],
      [
        policy('in-one', { action: 'DENY', network: 'default', peerSelector: {} }),
        card(),
        network('default'),
        network('lab'),
      ],
    ],
    fails: [
      [],
      [card()],
      [inward, card()],
      [policy('over', { action: 'DENY', peerSelector: {}, expiresAt: '2026-01-04T00:00:00Z' }), card()],
      [policy('some', { action: 'DENY', peerSelector: CDE }), card()],
      [
        policy('in-one', { action: 'DENY', network: 'lab', peerSelector: {} }),
        card(),
        network('default'),
        network('lab'),
      ],
    ],
    nothing: [],
    mends: true,
  },
  'not-public': {
    passes: [
      [base, card()],
      [fromWeb, card()],
      [fromAddress('203.0.113.0/24'), card()],
      [everyone, card(), policy('shut', { action: 'DENY', peerSelector: {}, ingress: [{}], egress: [{}] })],
      [
        fromAddress('0.0.0.0/0'),
        card(),
        policy('shut', {
          action: 'DENY',
          peerSelector: CDE,
          ingress: [{ from: [{ ipBlock: { cidr: '0.0.0.0/0' } }] }],
        }),
      ],
      [allow({ from: [bySelector('Exists')] }), card(), web()],
      // Open by default, which is no ALLOW: others judge that.
      [card(), web()],
    ],
    fails: [
      [everyone, card()],
      [allow({}), card()],
      [allow({ from: [{ peerSelector: {} }] }), card(), web()],
      [fromAddress('0.0.0.0/0'), card()],
      [allow({ from: [{ ipBlock: { cidr: '0.0.0.0/1' } }, { ipBlock: { cidr: '128.0.0.0/1' } }] }), card()],
      [fromAddress('2000::/3'), card()],
      ...anyoneBySpelling,
      [...manySmallRanges, card()],
      [...apartByPort, card()],
      [allow({ from: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['203.0.113.7/32', '10.0.0.0/8'] } }] }), card()],
    ],
    nothing: [[everyone, web()]],
    mends: true,
  },
  'explicit-inbound': {
    passes: [
      [base, card()],
      [fromWeb, card()],
      [inward, card()],
    ],
    fails: [
      [card()],
      [policy('outward', { action: 'DENY', peerSelector: {}, egress: [] }), card()],
      [base, everyone, card()],
      ...anyoneBySpelling,
      [base, ...manySmallRanges, card()],
    ],
    nothing: [
      [base, web()],
      [base, card({ phase: 'pending' })],
    ],
    mends: true,
  },
  'explicit-outbound': {
    passes: [
      [base, card()],
      [network('default', { defaultAction: 'DENY' }), card()],
    ],
    fails: [
      [card()],
      [inward, card()],
      [fromWeb, card()],
      [base, outTo({}), card()],
      [base, outTo({ to: [bySelector('DoesNotExist')] }), card()],
      [base, outTo({ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }], ports: [{ port: 443 }] }), card()],
    ],
    nothing: [[web()]],
    mends: true,
  },
  'explicit-allow-only': {
    passes: [
      [base, card()],
      [base, fromWeb, card(), web()],
    ],
    fails: [[card()], [inward, card()], [base, everyone, card()], [base, outTo({}), card()]],
    nothing: [[web()]],
    mends: true,
  },
  'granted-by-label': {
    passes: [
      [base, fromWeb, card()],
      [base, card()],
    ],
    fails: [
      [card()],
      [base, everyone, card()],
      [base, fromAddress('203.0.113.7/32'), card()],
      [base, allow({ from: [WEB, bySelector('NotIn', ['test'])] }), card()],
      [base, allow({ from: [WEB, { peerSelector: { notPeers: ['p_x'] } }] }), card()],
    ],
    nothing: [[base, web()]],
    mends: false,
  },
  'least-reach': {
    passes: [
      [base, card(), web()],
      [base, fromWeb, card()],
      [inward, card(), web()],
      [base, policy('any', { action: 'ALLOW', peerSelector: {}, ingress: [{}] }), card()],
      [base, anyToAny({}, [{ port: 443 }]), card(), web()],
    ],
    fails: [
      [card(), web()],
      [policy('outward', { action: 'DENY', peerSelector: {}, egress: [] }), card(), web()],
      [base, anyToAny({}), card()],
      [inward, policy('any', { action: 'ALLOW', peerSelector: {}, ingress: [{}] }), card()],
      [base, anyToAny(bySelector('DoesNotExist').peerSelector), card()],
      [base, anyToAny(bySelector('NotIn', ['none']).peerSelector), card()],
      [base, anyToAny({ notPeers: ['p_x'] }), card()],
      [base, anyToAny({}, [{ port: 1, endPort: 65_535 }]), card()],
      [
        base,
        anyToAny({}, [
          { port: 1, endPort: 20_000 },
          { port: 20_001, endPort: 40_000 },
        ]),
        card(),
      ],
      [base, anyToAny({}, undefined, { ipBlock: { cidr: '10.96.0.0/16' } }), card()],
      // Everybody who is there, by a label that all have.
      [base, anyToAny({ matchExpressions: [{ key: 'role', operator: 'Exists' }] }), ...threeWebs],
    ],
    nothing: [[base]],
    mends: false,
  },
  'environments-apart': {
    passes: [[base, card({ labels: { env: 'prod' } }), web()]],
    fails: [[card({ labels: { env: 'prod' } }), web({ env: 'test' })]],
    nothing: [[card({ labels: { env: 'prod' } })], [web({ env: 'test' })]],
    mends: true,
  },
  'no-other-sources': {
    passes: [
      [base, card()],
      [fromWeb, card()],
      [fromAddress('203.0.113.0/28'), card()],
      [network('default', { defaultAction: 'DENY' }), card()],
      [inward, card()],
      [
        fromAddress('198.51.100.0/24'),
        card(),
        policy('shut', {
          action: 'DENY',
          peerSelector: CDE,
          ingress: [{ from: [{ ipBlock: { cidr: '198.51.100.0/24' } }] }],
        }),
      ],
    ],
    fails: [
      [everyone, card()],
      [fromAddress('203.0.113.0/23'), card()],
      [fromAddress('198.51.100.1/32'), card()],
      // Open to addresses outside by default.
      [card()],
      [policy('outward', { action: 'DENY', peerSelector: {}, egress: [] }), card()],
      [policy('other', { action: 'DENY', peerSelector: { matchLabels: { role: 'web' } } }), card(), web()],
      [policy('over', { action: 'DENY', peerSelector: {}, expiresAt: '2026-01-04T00:00:00Z' }), card()],
      [card({ network: 'lab' }), network('default', { defaultAction: 'DENY' }), network('lab')],
    ],
    nothing: [[everyone, web()]],
    mends: true,
    sources: ['203.0.113.0/24'],
  },
  'justified-ports': {
    passes: [[allow({ from: [WEB] }, { 'compliance.owner': 'ada', 'compliance.justification': 'shop' }), card()]],
    fails: [
      [fromWeb, card()],
      [allow({ from: [WEB] }, { 'compliance.owner': 'ada' }), card()],
      [allow({ from: [WEB] }, { 'compliance.owner': ' ', 'compliance.justification': ' ' }), card()],
      [card()],
    ],
    nothing: [
      [base, card()],
      [fromWeb, web()],
    ],
    mends: false,
  },
  'no-insecure-services': {
    passes: [
      [base, card(), web()],
      [fromWeb, card(), web()],
      [allow({ from: [WEB], ports: [{ port: 23 }] }, { 'compliance.mitigation': 'in a jump host' }), card(), web()],
    ],
    fails: [
      [card(), web()],
      [allow({ from: [WEB], ports: [{ port: 20, endPort: 25 }] }), card(), web()],
      [allow({ from: [WEB], ports: [{ port: 23 }] }, { 'compliance.mitigation': ' ' }), card(), web()],
      // Reached by addresses outside alone.
      [card()],
      [base, allow({ from: [{ ipBlock: { cidr: '203.0.113.7/32' } }], ports: [{ port: 3_389 }] }), card()],
      [base, everyone, card()],
    ],
    nothing: [[web()]],
    mends: true,
  },
  'running-as-approved': {
    passes: [[policy('reviewed', { action: 'DENY', peerSelector: {} }, { revision: 3 }), card()]],
    fails: [[policy('direct', { action: 'DENY', peerSelector: {} }, { revision: 4 }), card()]],
    nothing: [[card()], [policy('old', { action: 'DENY', peerSelector: {} }, { revision: 1 })]],
    mends: false,
  },
  'encrypted-paths': {
    passes: [[card()]],
    fails: [[card({ publicKey: 'none' })]],
    nothing: [[web()]],
    mends: false,
  },
  'key-ages': {
    passes: [
      [{ ...card(), createdAt: NOW - DAY_MS }],
      [{ ...withStatus({ keySince: '2026-01-01T00:00:00Z' }), createdAt: YEARS_AGO }],
    ],
    fails: [[{ ...card(), createdAt: YEARS_AGO }]],
    nothing: [[web()]],
    mends: false,
  },
  'bounded-agents': {
    passes: [[agent('scout', { scopes: ['network:read'] })]],
    fails: [
      [agent('boss', { scopes: ['network:read', 'members:write'] })],
      [agent('clerk', { scopes: ['peers:approve'] })],
    ],
    nothing: [[card()], [agent('gone', { expiresAt: '2026-01-04T00:00:00Z', scopes: ['members:write'] })]],
    mends: false,
  },
  'issued-peers': {
    passes: [[withStatus({ tokenId: 'tok_1' })], [withStatus({ approvedBy: 'user:ada' })]],
    fails: [[card()]],
    nothing: [[]],
    mends: false,
  },
  'ended-agents-gone': {
    passes: [
      [agent('scout'), peer('bot-1', { agentRef: 'scout' })],
      [agent('gone', {}, { phase: 'Revoked' })],
      [agent('gone', { expiresAt: MINUTES_AGO }), peer('bot-1', { agentRef: 'gone' })],
      [peer('bot-1', { expiresAt: MINUTES_AGO })],
    ],
    fails: [
      [agent('gone', {}, { phase: 'Revoked' }), peer('bot-1', { agentRef: 'gone' })],
      [agent('gone', {}, { phase: 'Revoked' }), peer('bot-1', { delegatedBy: 'gone' })],
      [peer('bot-1', { agentRef: 'never' })],
      [agent('gone', { expiresAt: '2026-01-04T00:00:00Z' })],
      [agent('gone', { expiresAt: '2026-01-04T00:00:00Z' }), peer('bot-1', { agentRef: 'gone' })],
      [peer('bot-1', { expiresAt: '2026-01-04T00:00:00Z' })],
    ],
    nothing: [[card()], [peer('bot-1', { expiresAt: '2026-01-04T00:00:00Z', phase: 'expired' })]],
    mends: false,
  },
};

type StateCheckName = {
  [N in CheckName]: (typeof CHECKS)[N] extends StateCheck ? N : never;
}[CheckName];

function viewOf(sources: readonly string[] = []) {
  const reviewers = new Map([
    [3, 'user:eva'],
    [4, ''],
  ]);
  const rule = scopeRule('cde', {});
  return viewer({ rule, subject: 'cardholder', sources, reviewOf: (revision) => reviewers.get(revision) });
}

test('every check of states is held to the table', () => {
  const names = Object.entries(CHECKS).flatMap(([name, check]) => (check.on === 'state' ? [name] : []));
  expect(Object.keys(TABLE).sort()).toEqual(names.sort());
});

describe.each(Object.entries(TABLE))('%s', (name, { passes, fails, nothing, mends, sources }) => {
  const check: StateCheck = CHECKS[name as StateCheckName];
  const viewAt = viewOf(sources);
  const readingOf = (records: readonly StoredRecord[]) => check.judge(viewAt(stateWith(...records), NOW));

  test('says of each network whether it holds, and of one without its subject that there is nothing to judge', () => {
    expect(passes.map((records) => readingOf(records).holds)).toEqual(passes.map(() => true));
    expect(fails.map((records) => readingOf(records).holds)).toEqual(fails.map(() => false));
    expect(nothing.map((records) => readingOf(records).holds)).toEqual(nothing.map(() => undefined));
  });

  test('states its facts in a line that is not long', () => {
    for (const records of [...passes, ...fails, ...nothing])
      expect(readingOf(records).facts).toMatch(/^[\P{Cc}]{5,600}$/u);
  });

  test('says what to do where it fails, and holds once the policies of the remedy are there', () => {
    for (const records of fails) {
      const state = stateWith(...records);
      const { text, changes } = check.remedy(viewAt(state, NOW));
      expect(text).toMatch(/^[A-Z].{20,}\.$/);
      if (!mends) continue;
      const { after } = planChanges(state, changes, NOW);
      expect([changes, check.judge(viewAt(after, NOW)).holds]).toEqual([changes, true]);
    }
  });
});
