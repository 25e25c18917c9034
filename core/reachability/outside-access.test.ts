import { describe, expect, test } from 'vitest';
import { cidrsOf } from '../model/ranges.ts';
import { createEngine } from './engine.ts';
import type { NetworkInput, PolicyInput } from './model.ts';
import { betweenFuturePeers, openToFuturePeers, outsideAccess } from './outside-access.ts';

const NETWORK: NetworkInput = { name: 'default', cidr: '10.96.0.0/16', defaultAction: 'ALLOW' };

function reachOf(specs: readonly object[], network: Partial<NetworkInput> = {}) {
  const policies = specs.map((spec, index): PolicyInput => ({ name: `p-${index}`, spec }));
  const peers = [
    { name: 'card-1', labels: { role: 'card' }, network: 'default', address: '10.96.0.2' },
    { name: 'web-1', labels: { role: 'web' }, network: 'default', address: '10.96.0.3' },
  ];
  return createEngine().compile({ networks: [{ ...NETWORK, ...network }], peers, policies, now: 0 });
}

const card = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'card' } } };
const from = (...peers: unknown[]) => ({ ...card, ingress: [{ from: peers }] });

function textOf(specs: readonly object[], side: 'ingress' | 'egress' = 'ingress', network: Partial<NetworkInput> = {}) {
  const [access] = outsideAccess(reachOf(specs, network), ['card-1'], side);
  return access?.open?.flatMap(({ ranges, allowed }) => cidrsOf(ranges).map((cidr) => [cidr, allowed]));
}

describe('what addresses outside may open', () => {
  test('all of them everything at a peer that nothing isolates, and nothing at one that something does', () => {
    expect(textOf([])?.length).toBeGreaterThan(1);
    expect(textOf([], 'egress')?.length).toBeGreaterThan(1);
    expect(textOf([{ action: 'DENY', peerSelector: {}, ingress: [] }])).toEqual([]);
    expect(textOf([{ action: 'DENY', peerSelector: {}, ingress: [] }], 'egress')?.length).toBeGreaterThan(1);
    expect(textOf([], 'ingress', { defaultAction: 'DENY' })).toEqual([]);
  });

  test('the ranges that rules of several policies name, without what a DENY takes away', () => {
    const some = [
      from({ ipBlock: { cidr: '203.0.113.0/24' } }),
      { ...from({ ipBlock: { cidr: '198.51.100.0/24' } }), action: 'ALLOW' },
      { ...from({ ipBlock: { cidr: '203.0.113.128/25' } }), action: 'DENY' },
    ];
    expect(textOf(some)).toEqual([
      ['198.51.100.0/24', 'ALL'],
      ['203.0.113.0/25', 'ALL'],
    ]);
  });

  test('it is not said where policies tell too many addresses apart', () => {
    const blocks = Array.from({ length: 2_100 }, (_, i) => ({
      ipBlock: { cidr: `203.${i >> 7}.${(i & 127) * 2}.0/24` },
    }));
    expect(outsideAccess(reachOf([from(...blocks)]), ['card-1'], 'ingress')).toEqual([
      { peers: ['card-1'], open: undefined },
    ]);
  });

  test('a name that is not there is left out', () => {
    expect(outsideAccess(reachOf([]), ['nobody'], 'ingress')).toEqual([]);
  });
});

const expression = (operator: string, values?: string[]) => ({
  peerSelector: { matchExpressions: [{ key: 'role', operator, ...(values && { values }) }] },
});

test.each([
  ['nothing isolates', undefined, true],
  ['anyone', ['*'], true],
  ['every peer', [{ peerSelector: {} }], true],
  ['whoever has not a label', [expression('DoesNotExist')], true],
  ['whoever has another value', [expression('NotIn', ['test'])], true],
  ['whoever is not listed', [{ peerSelector: { notPeers: ['web-1'] } }], true],
  ['the network by its addresses', [{ ipBlock: { cidr: '10.96.0.0/16' } }], true],
  ['the network in two parts', [{ ipBlock: { cidr: '10.96.0.0/18' } }, { ipBlock: { cidr: '10.96.64.0/18' } }], true],
  ['the network but for an address', [{ ipBlock: { cidr: '10.96.0.0/16', except: ['10.96.0.9/32'] } }], true],
  ['whoever has a label', [expression('Exists')], false],
  ['one value', [expression('In', ['web'])], false],
  ['one address of the network', [{ ipBlock: { cidr: '10.96.0.3/32' } }], false],
  ['addresses outside', [{ ipBlock: { cidr: '128.0.0.0/1' } }], false],
])('a device that joins is let in where a rule names %s: %o', (_what, peers, isOpen) => {
  const reach = reachOf(peers === undefined ? [] : [from(...peers)]);
  expect(openToFuturePeers(reach, ['card-1'], 'ingress')).toEqual(isOpen ? ['card-1'] : []);
});

test('what two devices that join may open at each other follows from what both are selected by', () => {
  const between = (...specs: object[]) => betweenFuturePeers(reachOf(specs)).get('default');
  const base = { action: 'DENY', peerSelector: {} };
  expect(between()).toBe('ALL');
  expect(between(base)).toEqual([]);
  const any = { action: 'ALLOW', peerSelector: expression('NotIn', ['card']).peerSelector };
  expect(between(base, { ...any, ingress: [{}] })).toEqual([]);
  expect(between(base, { ...any, ingress: [{}], egress: [{}] })).toBe('ALL');
});
