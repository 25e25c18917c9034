import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEngine } from './engine.ts';
import type { NetworkModel } from './model.ts';
import { weightOf } from './weight.ts';

const GROUPS = 5;
const names = Array.from({ length: GROUPS }, (_, nth) => `g${nth}`);
const selector = fc.subarray(names, { minLength: 1 }).map((values) => ({
  matchExpressions: [{ key: 'g', operator: 'In' as const, values }],
}));
const port = fc.integer({ min: 1, max: 60 }).map((one) => ({ protocol: 'TCP' as const, port: 2 * one }));
const rule = fc.record({
  from: fc.array(
    selector.map((peerSelector) => ({ peerSelector })),
    { minLength: 1, maxLength: 2 },
  ),
  ports: fc.array(port, { minLength: 1, maxLength: 3 }),
});
const policy = fc.record({
  action: fc.constant('ALLOW' as const),
  peerSelector: selector,
  ingress: fc.array(rule, { minLength: 1, maxLength: 4 }),
});

function model(policies: readonly unknown[], peersOfEach = 1): NetworkModel {
  const peers = names.flatMap((g, group) =>
    Array.from({ length: peersOfEach }, (_, nth) => ({
      name: `${g}-${nth}`,
      uid: `p-${g}-${nth}`,
      labels: { g },
      network: 'default',
      address: `10.96.${group}.${nth + 1}`,
      phase: 'ready' as const,
      expiresAt: undefined,
    })),
  );
  return {
    networks: [{ name: 'default', cidr: '10.96.0.0/16', defaultAction: 'ALLOW' }],
    peers,
    policies: policies.map((spec, nth) => ({ name: `p${nth}`, spec })),
    now: 0,
  };
}

test('the weight is at least what the sets of all rows hold together, and does not grow with peers that are alike', () => {
  fc.assert(
    fc.property(fc.array(policy, { maxLength: 6 }), (policies) => {
      const reach = createEngine().compile(model(policies));
      const weight = weightOf(reach);
      const { ports, space, table } = reach.parts;
      const sets = new Set(space.classes.flatMap((_, index) => [...table.row('ingress', index)]));
      let numbers = 0;
      for (const id of sets) if (id > 1) numbers += ports.numbersIn(id);
      expect(weight).toBeGreaterThanOrEqual(numbers);
      expect(weightOf(createEngine().compile(model(policies, 3)))).toBe(weight);
    }),
  );
});

test('rules of which each is about few are counted, however many peers there are', () => {
  const apps = Array.from({ length: 2_000 }, (_, nth) => `a${nth}`);
  const peers = apps.map((app, nth) => ({
    name: app,
    uid: `p-${app}`,
    labels: { app },
    network: 'default',
    address: `10.96.${nth >> 8}.${nth & 255}`,
    phase: 'ready' as const,
    expiresAt: undefined,
  }));
  const ports = Array.from({ length: 30 }, (_, nth) => ({ protocol: 'TCP' as const, port: 1 + 2 * nth }));
  const policies = apps.map((app, nth) => ({
    name: app,
    spec: {
      action: 'ALLOW',
      peerSelector: { matchLabels: { app } },
      ingress: [{ from: [{ peerSelector: { matchLabels: { app: apps[nth ^ 1] } } }], ports: ports.slice(nth % 7) }],
    },
  }));
  const all = Array.from({ length: 6 }, (_, nth) => ({
    name: `all-${nth}`,
    spec: {
      action: 'ALLOW',
      peerSelector: {},
      ingress: [{ from: [{ peerSelector: { matchLabels: { app: 'a0' } } }], ports: [ports[nth]] }],
    },
  }));
  const networks = [{ name: 'default', cidr: '10.96.0.0/16', defaultAction: 'ALLOW' as const }];
  const reach = createEngine().compile({ networks, peers, policies: [...policies, ...all], now: 0 } as never);
  expect(weightOf(reach)).toBeLessThan(1_000_000);
});
