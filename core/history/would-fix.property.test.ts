import fc from 'fast-check';
import { expect, it } from 'vitest';
import { network, peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { planChanges } from '../changes/changes.ts';
import { effectOf, namesOn } from '../effect/effect.ts';
import type { PolicySpec, PortEntry, Selector } from '../model/policy.ts';
import { compile } from '../reachability/engine.ts';
import { explain } from '../reachability/explain.ts';
import { modelOf } from '../state/network-model.ts';
import type { NetworkState } from '../state/state.ts';
import { wouldFix } from './would-fix.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const states = { reachability: (state: NetworkState, now: number) => compile(modelOf(state, now)) };
const WEB = peer('web-1', { labels: { role: 'web' }, address: '10.96.0.1' });
const DB = peer('db-1', { labels: { role: 'db' }, address: '10.96.0.2' });
const only = (role: string) => ({ matchLabels: { role } });

it('what would open a refused connection opens the pair that was asked about, on the port asked about, and nothing else, whatever the network', () => {
  const selector = fc.constantFrom<Selector>(
    {},
    only('web'),
    only('db'),
    { peers: [DB.uid] },
    { notPeers: [WEB.uid] },
    { peers: [WEB.uid, DB.uid] },
    {
      matchExpressions: [{ key: 'role', operator: 'NotIn', values: ['web'] }],
    },
  );
  const entry = fc.oneof(
    selector.map((peerSelector) => ({ peerSelector })),
    fc.constant('*' as const),
    fc.constant({ ipBlock: { cidr: '10.96.0.0/30' } }),
  );
  const ports = fc.option(fc.constantFrom<PortEntry[]>([{ protocol: 'TCP', port: 5432 }], [{ protocol: 'UDP' }]), {
    nil: undefined,
  });
  const rule = fc.record({
    who: fc.option(fc.array(entry, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    ports,
  });
  const rules = fc.option(fc.array(rule, { maxLength: 2 }), { nil: undefined });
  const spec = fc
    .record({
      action: fc.constantFrom('ALLOW' as const, 'DENY' as const),
      peerSelector: selector,
      inward: rules,
      outward: rules,
    })
    .map(
      ({ action, peerSelector, inward, outward }): PolicySpec => ({
        action,
        peerSelector,
        ...(inward && {
          ingress: inward.map(({ who, ports: on }) => ({ ...(who && { from: who }), ...(on && { ports: on }) })),
        }),
        ...(outward && {
          egress: outward.map(({ who, ports: on }) => ({ ...(who && { to: who }), ...(on && { ports: on }) })),
        }),
      }),
    );
  const query = fc.constantFrom({}, { protocol: 'TCP' as const }, { protocol: 'TCP' as const, port: 5432 });
  const peers = [WEB, DB, peer('plain', { address: '10.96.0.3' }), peer('other', { address: '10.96.0.4' })];
  const name = fc.constantFrom(...peers.map((one) => one.name));
  fc.assert(
    fc.property(
      fc.array(spec, { maxLength: 4 }),
      fc.constantFrom('ALLOW' as const, 'DENY' as const),
      name,
      name,
      query,
      (specs, defaultAction, src, dst, asked) => {
        const policies = specs.map((one, index) => policy(`p-${index}`, one));
        const state = stateWith(network('default', { defaultAction }), ...peers, ...policies);
        const question = { src, dst, ...asked };
        const isOpen = (of: NetworkState) => explain(states.reachability(of, NOW), question).verdict === 'reachable';
        const steps = wouldFix(states, state, question, NOW);
        if (isOpen(state)) {
          expect(steps).toEqual([]);
          return;
        }
        const changes = steps.flatMap((step) => (step.change === 'apply_changes' ? step.changes : []));
        expect(changes.length).toBeGreaterThan(0);
        const { after } = planChanges(state, changes, NOW);
        expect(isOpen(after)).toBe(true);
        const effect = effectOf(states.reachability(state, NOW), states.reachability(after, NOW));
        const { port, protocol } = { port: undefined, protocol: undefined, ...asked };
        expect(effect).toMatchObject({ openedPairs: 1, closedPairs: 0, outside: [] });
        expect(namesOn(effect.groups, 'src')).toEqual(new Set([src]));
        expect(namesOn(effect.groups, 'dst')).toEqual(new Set([dst]));
        for (const span of effect.groups.flatMap(({ opened }) => opened)) {
          if (protocol !== undefined) expect(span.protocol).toBe(protocol);
          if (port !== undefined) expect([span.from, span.to]).toEqual([port, port]);
        }
      },
    ),
    { numRuns: 300 },
  );
});
