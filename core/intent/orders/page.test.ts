import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import { MeshError } from '../../base/errors.ts';
import { effectOf } from '../../effect/effect.ts';
import { spanText } from '../../effect/port-spans.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import type { NetworkState } from '../../state/state.ts';
import { compileOrders } from './compile-orders.ts';
import { orderInputSchema } from './order.ts';
import { readOrders } from './read-orders.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const page = readFileSync(new URL('../../../docs/orders.md', import.meta.url), 'utf8');

interface Network {
  readonly peers: readonly { readonly name: string; readonly labels: Record<string, string> }[];
  readonly policies: readonly { readonly name: string; readonly spec: PolicySpec }[];
}

const { peers, policies } = load(/```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '') as Network;
const LAB = `p_${'z'.repeat(26)}`;
const state = stateWith(
  ...peers.map(({ name, labels }, index) =>
    peer(name, { labels, address: `10.96.0.${index + 1}`, ...(name === 'lab' && { uid: LAB }) }),
  ),
  ...policies.map(({ name, spec }) =>
    policy(name, JSON.parse(JSON.stringify(spec).replaceAll('["lab"]', `["${LAB}"]`))),
  ),
);
const rows = [...page.matchAll(/^\| `(\{"do".*?\})` \| (.*) \|$/gm)].map(([, order = '', result = '']) => ({
  order,
  result,
}));

const reachOf = (of: NetworkState) => compile(modelOf(of, NOW));

/** Returns an order's result in the words of the page. */
function told(order: string): string {
  try {
    const orders = readOrders([orderInputSchema.parse(JSON.parse(order))], state, { now: NOW, timeZone: 'UTC' });
    const { after, already, changes } = compileOrders(orders, state, {
      now: NOW,
      joins: [],
      isPersons: true,
      reachOf,
    });
    if (already) return `already so, by ${already.join(', ') || 'default'}`;
    const { groups, outside = [] } = effectOf(reachOf(state), reachOf(after));
    const names = (list: readonly string[]) => list.toSorted().join(', ');
    const of = (side: 'opened' | 'closed') => [
      ...groups.flatMap((one) =>
        one[side].length > 0 ? [`${names(one.src)} to ${names(one.dst)} on ${spanText(one[side])}`] : [],
      ),
      ...outside.flatMap((one) => {
        const [src, dst] = one.side === 'src' ? [one.names, one.peers] : [one.peers, one.names];
        return one[side].length > 0 ? [`${names(src)} to ${names(dst)} on ${spanText(one[side])}`] : [];
      }),
    ];
    const sides = (['opened', 'closed'] as const).flatMap((side) =>
      of(side).length > 0 ? [`${side === 'opened' ? 'opens' : 'closes'} ${of(side).sort().join('; ')}`] : [],
    );
    return `${sides.join(', ') || 'changes nothing now'}: ${changes.map(({ action, name }) => `${action} ${name}`).join(', ')}`;
  } catch (error) {
    if (error instanceof MeshError)
      return `refused: ${error.message.replace(/^\S+ /, (start) => (start.startsWith('/') ? '' : start))}`;
    throw error;
  }
}

test.each(rows)('$order', ({ order, result }) => {
  expect(told(order)).toBe(result);
});

test('each verb has an example', () => {
  for (const verb of ['allow', 'deny', 'only', 'remove'])
    expect(rows.some(({ order }) => order.includes(`"${verb}"`))).toBe(true);
});
