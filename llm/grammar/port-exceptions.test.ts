import { describe, expect, it } from 'vitest';
import { planChanges } from '../../core/changes/changes.ts';
import { effectOf } from '../../core/effect/effect.ts';
import { spansOf, subtract } from '../../core/effect/port-spans.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import { peer, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const PEERS = [
  peer('web-1', { labels: { role: 'web' } }),
  peer('db-1', { labels: { role: 'db' } }),
  peer('ci-1', { labels: { role: 'ci' } }),
];
const OPEN = stateWith(...PEERS);
const SHUT = {
  ...OPEN,
  networks: new Map(
    [...OPEN.networks].map(([name, network]) => [
      name,
      { ...network, spec: { ...network.spec, defaultAction: 'DENY' as const } },
    ]),
  ),
};

const SAID: readonly [string, readonly { protocol: 'TCP' | 'UDP'; from?: number; to?: number }[]][] = [
  ['ports 1-100', [{ protocol: 'TCP', from: 1, to: 100 }]],
  ['443', [{ protocol: 'TCP', from: 443, to: 443 }]],
  ['ssh', [{ protocol: 'TCP', from: 22, to: 22 }]],
  ['5432/tcp', [{ protocol: 'TCP', from: 5432, to: 5432 }]],
  ['tcp', [{ protocol: 'TCP', from: 1, to: 65_535 }]],
];
const EXCEPTIONS = ['except 22', 'except 22-30', 'but not udp', 'without icmp', 'except udp', 'without ssh'];
const ORDERS = ['let web reach db on', 'block ci from db on', 'only web may reach db on', 'limit db to'];

const sentences = ORDERS.flatMap((order) =>
  SAID.flatMap(([ports, spans]) =>
    EXCEPTIONS.map((exception) => ({
      intent: `${order} ${ports} ${exception}`,
      spans,
      limits: order.startsWith('limit'),
    })),
  ),
);

describe('ports with an exception', () => {
  it('mean none beyond those that were said, or are asked about', () => {
    const beyond = sentences.flatMap(({ intent, spans, limits }) =>
      [OPEN, SHUT].flatMap((state) => {
        const answer = planByGrammar({ intent, state, now: NOW });
        if (answer.outcome !== 'changes') return [];
        const { after } = planChanges(state, answer.changes, NOW);
        const { groups } = effectOf(compile(modelOf(state, NOW)), compile(modelOf(after, NOW)));
        const touched = groups.flatMap(({ opened, closed }) => [...opened, ...(limits ? [] : closed)]);
        return subtract(touched, spans).length > 0 ? [intent] : [];
      }),
    );
    expect(beyond).toEqual([]);
  });

  it('are the ports without those that are left out', () => {
    const answer = planByGrammar({ intent: 'let web reach db on ports 1-100 except 22', state: SHUT, now: NOW });
    if (answer.outcome !== 'changes') throw new Error('not planned');
    const { after } = planChanges(SHUT, answer.changes, NOW);
    expect(spansOf(compile(modelOf(after, NOW)).allowed('web-1', 'db-1'))).toEqual([
      { protocol: 'TCP', from: 1, to: 21 },
      { protocol: 'TCP', from: 23, to: 100 },
    ]);
  });
});

it.each([
  'let web reach db because they need port 5432',
  'let web reach db because of 5432',
  'let web reach db due to ssh',
  'block ci from db because of port 23',
])('a reason that names ports is asked about: %s', (intent) => {
  expect(planByGrammar({ intent, state: OPEN, now: NOW }).outcome).toBe('refused');
  expect(planByGrammar({ intent, state: SHUT, now: NOW }).outcome).toBe('refused');
});
