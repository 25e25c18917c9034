import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { network, peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import { effectOf } from '../../effect/effect.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import type { Finding, FindingCode } from './findings.ts';
import { riskOf, withEarlierClosings } from './risk.ts';
import { RISKS, type RiskRow } from './risk-table.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const CLOSED = network('default', { defaultAction: 'DENY' });
const PEERS = [
  peer('laptop-ben', { labels: { team: 'dev' }, address: '10.96.0.1' }),
  peer('ci-1', { labels: { role: 'ci' }, address: '10.96.0.2' }),
  peer('web-1', { labels: { role: 'web' }, address: '10.96.0.3' }),
  peer('db-1', { labels: { role: 'db' }, address: '10.96.0.4' }),
  peer('db-2', { labels: { role: 'db' }, address: '10.96.0.5' }),
  peer('db-3', { labels: { role: 'db', env: 'prod' }, address: '10.96.0.6' }),
  peer('card-1', { labels: { role: 'card', pci: 'true' }, address: '10.96.0.7' }),
  ...Array.from({ length: 10 }, (_, index) =>
    peer(`app-${index}`, { labels: { role: 'app' }, address: `10.96.1.${index + 1}` }),
  ),
];
const OUT = policy('out', { action: 'ALLOW', peerSelector: {}, egress: [{ to: [{ peerSelector: {} }] }] });
const uidOf = (name: string) => PEERS.find((one) => one.name === name)?.uid ?? name;
const named = (...names: string[]) => ({ peers: names.map(uidOf) });

type Ports = NonNullable<NonNullable<PolicySpec['ingress']>[number]['ports']>;
const allow = (from: string[], to: string[], ports?: Ports): PolicySpec => ({
  action: 'ALLOW',
  peerSelector: named(...to),
  ingress: [{ from: [{ peerSelector: named(...from) }], ...(ports && { ports }) }],
});
const allowIn = (cidr: string, port: number, to = 'web-1'): PolicySpec => ({
  action: 'ALLOW',
  peerSelector: named(to),
  ingress: [
    { from: [{ ipBlock: { cidr, ...(cidr === '0.0.0.0/0' && { except: ['10.96.0.0/16'] }) } }], ports: [{ port }] },
  ],
});
const allowOut = (cidr: string, from = 'web-1'): PolicySpec => ({
  action: 'ALLOW',
  peerSelector: named(from),
  egress: [
    { to: [{ ipBlock: { cidr, ...(cidr === '0.0.0.0/0' && { except: ['10.96.0.0/16'] }) } }], ports: [{ port: 443 }] },
  ],
});

interface Tried {
  readonly before?: readonly PolicySpec[];
  readonly after?: readonly PolicySpec[];
  readonly is?: typeof CLOSED;
  readonly was?: typeof CLOSED;
  readonly unmarked?: boolean;
  readonly caller?: string;
  readonly finding?: FindingCode;
  readonly ofFew?: boolean;
}

function risk({ before = [], after = [], was = CLOSED, is = was, unmarked, caller, finding, ofFew }: Tried) {
  const all = ofFew ? PEERS.slice(0, 7) : PEERS;
  const stateOf = (net: typeof CLOSED, specs: readonly PolicySpec[], some: typeof PEERS) =>
    stateWith(net, ...some, OUT, ...specs.map((spec, index) => policy(`p-${index}`, spec)));
  const changed = all.map((one) =>
    unmarked && one.name === 'card-1' ? peer('card-1', { labels: { role: 'card' }, address: '10.96.0.7' }) : one,
  );
  const states = [stateOf(was, before, all), stateOf(is, after, changed)] as const;
  const [from, to] = states.map((state) => compile(modelOf(state, NOW)));
  if (!from || !to) throw new Error('not compiled');
  const found = { code: finding, blocks: true, message: 'found', policy: null, direction: null, rule_index: null };
  return riskOf({
    effect: effectOf(from, to),
    ...{ before: states[0], after: states[1], was: from, is: to, callerPeer: caller },
    findings: finding ? [found as Finding] : [],
  });
}

const SSH = [{ port: 22 }];
const everyApp = PEERS.map(({ name }) => name);
const WIDE = allow(everyApp, everyApp, [{ port: 443 }]);

/** Both ends keep what they have at another port. */
const CLOSING_A_PORT: Tried = {
  before: [allow(['web-1'], ['db-1'], [{ port: 80 }, { port: 81 }])],
  after: [allow(['web-1'], ['db-1'], [{ port: 81 }])],
  ofFew: true,
};

/** An effect for each row: no row is without one, and each is of the level that its row says. */
const TRIED: Partial<Record<RiskRow, Tried>> = {
  guardedFromOutside: { after: [allowIn('10.0.0.7/32', 5432)] },
  guardedToProduction: { after: [allow(['ci-1'], ['db-3'], [{ port: 5432 }])] },
  guardedToSeveral: { after: [allow(['laptop-ben'], ['db-1', 'db-2'], SSH)] },
  guardedToOne: { after: [allow(['ci-1'], ['db-1'], [{ port: 5432 }])] },
  everyPort: { after: [allow(['web-1'], ['db-1'])] },
  manyPorts: { after: [allow(['web-1'], ['db-1'], [{ port: 10_000, endPort: 10_150 }])] },
  sensitive: { after: [allow(['web-1'], ['card-1'], [{ port: 443 }])] },
  half: { after: [WIDE] },
  defaultToAll: { was: CLOSED, is: network('default') },
  newcomers: { finding: 'OPENS_TO_NEWCOMERS' },
  opensLater: { finding: 'OPENS_LATER' },
  anyoneInToSensitive: { after: [allowIn('0.0.0.0/0', 443, 'card-1')] },
  anyoneIn: { after: [allowIn('0.0.0.0/0', 443)] },
  outsideWithSensitive: { after: [allowIn('203.0.113.0/24', 443, 'card-1')] },
  rangeIn: { after: [allowIn('203.0.113.0/24', 443)] },
  oneIn: { after: [allowIn('203.0.113.7/32', 443)] },
  anyoneOut: { after: [allowOut('0.0.0.0/0')] },
  rangeOut: { after: [allowOut('203.0.113.0/24')] },
  unmarked: { unmarked: true },
  closesAll: { before: [WIDE] },
  closesHalf: {
    before: [WIDE, allow(['web-1'], ['db-1'], [{ port: 80 }])],
    after: [allow(['web-1'], ['db-1'], [{ port: 80 }])],
  },
  closesMany: {
    before: [WIDE],
    after: [
      allow(
        everyApp,
        everyApp.filter((name) => !/^(app-[0-4]|db-.)$/.test(name)),
        [{ port: 443 }],
      ),
    ],
  },
  closesUnseen: { finding: 'CLOSES_LATER' },
  closesCaller: { before: [allow(['web-1'], ['db-1'], [{ port: 80 }])], caller: 'web-1' },
  closes: CLOSING_A_PORT,
  cutsOff: { before: [allow(['web-1'], ['db-1'], [{ port: 80 }])], ofFew: true },
  closesGuarded: {
    before: [allow(['web-1', 'db-1'], ['db-3', 'db-2'], [{ port: 80 }])],
    after: [allow(['web-1'], ['db-3', 'db-2'], [{ port: 80 }]), allow(['db-1'], ['db-2'], [{ port: 80 }])],
  },
  touches: { after: [allow(['web-1'], everyApp.slice(7), [{ port: 8443 }])] },
  locksOutControl: { finding: 'CONTROL_LOCKED_OUT' },
  locksOut: { finding: 'CALLER_LOCKED_OUT' },
  beyondDelegation: { finding: 'BEYOND_DELEGATION' },
  breaksControl: { finding: 'BREAKS_CONTROL' },
  closesLater: { finding: 'CLOSES_TO_NEWCOMERS' },
  throughDeny: { finding: 'THROUGH_DENY' },
  narrowsDeny: { finding: 'NARROWS_DENY' },
};

/** Rows whose effect other tests build, as they take more than policies. */
const ELSEWHERE: readonly RiskRow[] = ['defaultToSome', 'route'];

describe('the table of risks', () => {
  it.each(Object.entries(TRIED))('%s', (row, tried) => {
    expect(risk(tried).level).toBe(RISKS[row as RiskRow].level);
  });

  it('has an effect for each row', () => {
    expect([...Object.keys(TRIED), ...ELSEWHERE].toSorted()).toEqual(Object.keys(RISKS).toSorted());
  });

  it('stands in docs/risk.md, row by row', () => {
    const page = readFileSync(new URL('../../../docs/risk.md', import.meta.url), 'utf8');
    for (const { level, does, to, from, during } of Object.values(RISKS)) {
      expect(page).toContain(`| **${level}** | ${does} | ${to} | ${from} | ${during} |`);
    }
  });

  it('takes a port between servers for low, and a time limit lowers nothing', () => {
    expect(risk({ after: [allow(['web-1'], ['db-1'], [{ port: 5432 }])] })).toEqual({ level: 'low', reasons: [] });
    const timed = { ...allow(['laptop-ben'], ['db-1'], SSH), expiresAt: '2026-01-05T13:00:00Z' };
    expect(risk({ after: [timed] }).level).toBe('medium');
  });

  it.each<[string, PolicySpec[], string | undefined]>([
    ['a target keeps no peer that reaches it', [allow(['web-1', 'ci-1'], ['db-2'])], '1 peer'],
    ['a peer keeps none that it reaches', [allow(['ci-1'], ['db-1', 'db-2'])], '1 peer'],
    ['each keeps another', [allow(['ci-1'], ['db-1', 'db-2']), allow(['web-1'], ['db-2'])], undefined],
  ])('ends the last connection of a peer where %s', (_what, after, peers) => {
    const { level, reasons } = risk({ before: [allow(['web-1', 'ci-1'], ['db-1', 'db-2'])], after });
    const reason = `ends the last connection of ${peers} with others`;
    expect([level, reasons.includes(reason)]).toEqual(peers === undefined ? ['low', false] : ['medium', true]);
  });

  it.each([
    [{ lostPairs: 1, closedPairs: 1, pairsBefore: 96 }, 6, 'low'],
    [{ lostPairs: 1, closedPairs: 1, pairsBefore: 27 }, 7, 'medium'],
    [{ lostPairs: 0, closedPairs: 1, pairsBefore: 900 }, 99, 'medium'],
    [{ lostPairs: 4, closedPairs: 4, pairsBefore: 20 }, 8, 'high'],
    [{ lostPairs: 0, closedPairs: 0, pairsBefore: 12 }, 50, 'low'],
  ])('adds up what closes: %o after %i pairs is %s', (closing, earlier, level) => {
    expect(withEarlierClosings({ level: 'low', reasons: [] }, closing, earlier).level).toBe(level);
  });

  it('says of a closing that it does not know of any flows', () => {
    const { reasons } = risk(CLOSING_A_PORT);
    expect(reasons).toEqual(['closes ports between 1 pair of peers (whether anything uses them is not known)']);
  });
});
