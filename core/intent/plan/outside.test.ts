import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { network, peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import type { StoredRecord } from '../../base/record.ts';
import { type Effect, effectOf, outsidePairs } from '../../effect/effect.ts';
import { effectView } from '../../effect/effect-view.ts';
import { spansOf, subtract } from '../../effect/port-spans.ts';
import { overlaps, parseAddress } from '../../model/cidr.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { createEngine } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import type { NetworkState } from '../../state/state.ts';
import type { Expectation } from '../verify/expectation.ts';
import { unmetExpectations } from '../verify/expectations.ts';

const WEB = peer('web-1', { labels: { role: 'web' }, address: '10.96.0.1' });
const DB = peer('db-1', { labels: { role: 'db' }, address: '10.96.0.2' });
const CLOSED = network('default', { defaultAction: 'DENY' });
const only = (role: string) => ({ matchLabels: { role } });
const block = (cidr: string, ...except: string[]) => ({ ipBlock: { cidr, ...(except.length > 0 && { except }) } });
const letIn = (from: NonNullable<PolicySpec['ingress']>[number]['from'], port = 8443): PolicySpec => ({
  action: 'ALLOW',
  peerSelector: only('web'),
  ingress: [{ ...(from && { from }), ports: [{ protocol: 'TCP', port }] }],
});

function effect(before: readonly StoredRecord[], after: readonly StoredRecord[]): Effect {
  const engine = createEngine();
  const compiled = (records: readonly StoredRecord[]) => engine.compile(modelOf(stateWith(...records), 0));
  return effectOf(compiled(before), compiled(after));
}
const rowsOf = (found: Effect) => {
  const { opened, closed } = effectView(found);
  const texts = (rows: typeof opened) =>
    rows.map(({ src, dst, protocol, from }) => `${src} > ${dst} ${protocol} ${from}`);
  return { opened: texts(opened), closed: texts(closed) };
};

describe('the effect between peers and addresses outside of the network', () => {
  const peers = [WEB, DB, CLOSED];

  it.each<[string, NonNullable<PolicySpec['ingress']>[number]['from'], string[]]>([
    ['a range', [block('203.0.113.0/24')], ['203.0.113.0/24']],
    ['two halves of a range', [block('203.0.113.0/25'), block('203.0.113.128/25')], ['203.0.113.0/24']],
    ['a range with a hole', [block('10.0.0.0/8', '10.7.0.0/16')], ['10.0.0.0/8 except 10.7.0.0/16']],
    ['all of IPv4 but a range', [block('0.0.0.0/0', '10.0.0.0/8')], ['0.0.0.0/0 except 10.0.0.0/8']],
    ['a range of IPv6', [block('2001:db8::/32')], ['2001:db8::/32']],
    ['everyone', undefined, ['outside', 'db-1']],
  ])('names %s', (_name, from, sources) => {
    const found = effect(peers, [...peers, policy('p', letIn(from))]);
    const out = [WEB, DB].map(({ name }) => name);
    const expected = sources.map((src) => `${src} > web-1 TCP 8443`).sort();
    // In a network that is closed both ways nothing lets a peer out.
    expect(rowsOf(found)).toEqual({
      opened: expected.filter((row) => !out.some((name) => row.startsWith(name))),
      closed: [],
    });
  });

  it('names everything outside but what stays closed', () => {
    const deny = policy('deny', {
      action: 'DENY',
      peerSelector: only('web'),
      ingress: [{ from: [block('192.0.2.0/24')] }],
    });
    const found = effect([...peers, deny], [...peers, deny, policy('p', letIn(undefined))]);
    expect(rowsOf(found).opened).toEqual(['outside except 192.0.2.0/24 > web-1 TCP 8443']);
  });

  it('says what a DENY of a range closes, and counts it apart from peers', () => {
    const deny = policy('deny', { action: 'DENY', peerSelector: {}, egress: [{ to: [block('192.0.2.0/24')] }] });
    const found = effect([WEB, DB], [WEB, DB, deny]);
    expect([found.closedPairs, outsidePairs(found, 'closed'), outsidePairs(found, 'opened')]).toEqual([0, 2, 0]);
    expect(rowsOf(found).closed).toContain('web-1 > 192.0.2.0/24 TCP 1');
  });

  it('is in the digest that binds what was shown', () => {
    const [one, other] = ['203.0.113.0/24', '203.0.113.0/25'].map((cidr) =>
      effect(peers, [...peers, policy('p', letIn([block(cidr)]))]),
    );
    expect(one?.digest).not.toBe(other?.digest);
    const split = effect(peers, [...peers, policy('p', letIn([block('203.0.113.0/25'), block('203.0.113.128/25')]))]);
    expect(split.digest).toBe(one?.digest);
  });

  it('is not told where policies name more ranges than can be compared', () => {
    const many = Array.from({ length: 4_000 }, (_, index) => block(`${20 + (index >> 8)}.${index & 255}.0.0/17`));
    expect(effect(peers, [...peers, policy('p', letIn(many))]).outside).toBeUndefined();
    expect(effect(peers, [...peers, policy('p', letIn(many.slice(0, 1_500)))]).outside).toHaveLength(1);
  });

  it('is what each single address finds', () => {
    const cidr = fc.constantFrom(
      '203.0.113.0/24',
      '203.0.113.0/26',
      '10.0.0.0/8',
      '10.96.0.0/12',
      '0.0.0.0/0',
      '::/0',
      '2001:db8::/33',
    );
    const blocks = fc.oneof(
      cidr.map((text) => block(text)),
      fc.constantFrom(block('0.0.0.0/0', '10.0.0.0/8'), block('203.0.113.0/24', '203.0.113.64/27')),
    );
    const entries = fc.option(fc.array(fc.oneof(blocks, fc.constant('*' as const)), { minLength: 1, maxLength: 2 }), {
      nil: undefined,
    });
    const rule = fc.tuple(entries, fc.option(fc.constantFrom(22, 443), { nil: undefined })).map(([who, port]) => ({
      who,
      ...(port !== undefined && { ports: [{ protocol: 'TCP' as const, port }] }),
    }));
    const spec = fc
      .record({
        allow: fc.boolean(),
        role: fc.constantFrom('web', 'db'),
        inward: fc.boolean(),
        rules: fc.array(rule, { maxLength: 2 }),
      })
      .map(
        ({ allow, role, inward, rules }): PolicySpec => ({
          action: allow ? 'ALLOW' : 'DENY',
          peerSelector: only(role),
          ...(inward
            ? { ingress: rules.map(({ who, ...ports }) => ({ ...(who && { from: who }), ...ports })) }
            : { egress: rules.map(({ who, ...ports }) => ({ ...(who && { to: who }), ...ports })) }),
        }),
      );
    const policies = fc
      .array(spec, { maxLength: 3 })
      .map((specs) => specs.map((one, index) => policy(`p-${index}`, one)));
    const addresses = [
      '203.0.113.1',
      '203.0.113.70',
      '203.0.113.200',
      '10.1.1.1',
      '10.97.0.1',
      '8.8.8.8',
      '2001:db8::1',
      '2001:db8:8000::1',
      '2a00::1',
    ];
    fc.assert(
      fc.property(policies, policies, fc.constantFrom('ALLOW', 'DENY'), (old, now, defaultAction) => {
        const net = network('default', { defaultAction });
        const engine = createEngine();
        const compiled = (records: readonly StoredRecord[], externals = false) => {
          const model = modelOf(stateWith(net, WEB, DB, ...records), 0);
          return engine.compile(
            externals ? { ...model, externals: addresses.map((one) => ({ name: one, range: one })) } : model,
          );
        };
        const found = effectOf(compiled(old), compiled(now)).outside ?? [];
        const [was, is] = [compiled(old, true), compiled(now, true)];
        for (const address of addresses) {
          for (const name of ['web-1', 'db-1']) {
            for (const side of ['src', 'dst'] as const) {
              const [src, dst] = side === 'src' ? [address, name] : [name, address];
              const [before, after] = [spansOf(was.allowed(src, dst)), spansOf(is.allowed(src, dst))];
              const groups = found.filter(
                (group) =>
                  group.side === side &&
                  group.peers.includes(name) &&
                  group.ranges.some((range) => overlaps(range, parseAddress(address) ?? range)),
              );
              expect(groups.length).toBeLessThan(2);
              expect([groups[0]?.opened ?? [], groups[0]?.closed ?? []]).toEqual([
                subtract(after, before),
                subtract(before, after),
              ]);
            }
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('an expectation about addresses', () => {
  const state = stateWith(
    WEB,
    DB,
    CLOSED,
    policy('p', letIn([block('203.0.113.0/24', '203.0.113.64/27')])),
    policy('out', { action: 'ALLOW', peerSelector: only('db'), egress: [{ to: [block('198.51.100.0/24')] }] }),
  );
  const flaws = (expectation: Expectation, of: NetworkState = state) =>
    unmetExpectations([expectation], of, createEngine().compile(modelOf(of, 0))).map(({ detail }) => detail);
  const web = { dst: 'role=web', protocol: 'TCP', port: 8443 } as const;

  it.each<[string, Expectation]>([
    ['a range that is let in', { ...web, src: '203.0.113.0/26', expect: 'allow' }],
    ['one address of it', { ...web, src: '203.0.113.7', expect: 'allow' }],
    [
      'all of it with its hole left out',
      { ...web, src: '203.0.113.0/24', except: ['203.0.113.64/27'], expect: 'allow' },
    ],
    ['the same in one term', { ...web, src: '203.0.113.0/24 except 203.0.113.64/27', expect: 'allow' }],
    ['what is kept out', { ...web, src: 'outside', except: ['203.0.113.0/24'], expect: 'deny' }],
    ['where peers may go', { src: 'db-1', dst: '198.51.100.0/24', expect: 'allow' }],
  ])('holds of %s', (_name, expectation) => {
    expect(flaws(expectation)).toEqual([]);
  });

  it('is checked over the whole range', () => {
    expect(flaws({ ...web, src: '203.0.113.0/24', expect: 'allow' })).toEqual([
      '203.0.113.64/27 cannot reach web-1 on TCP 8443',
    ]);
    expect(flaws({ ...web, src: 'outside', expect: 'deny' })[0]).toContain('can still reach web-1 on TCP 8443');
  });

  it('means the peers that have such an address too', () => {
    expect(flaws({ src: '10.96.0.2', dst: 'web-1', protocol: 'TCP', port: 22, expect: 'allow' })).toEqual([
      'db-1 cannot reach web-1 on TCP 22',
    ]);
  });

  it('about addresses that nobody has does not hold', () => {
    expect(flaws({ src: '10.96.0.77', dst: 'web-1', expect: 'deny' })).toEqual([
      'no peer that is ready is meant by 10.96.0.77',
    ]);
  });
});
