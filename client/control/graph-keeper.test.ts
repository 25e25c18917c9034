import { describe, expect, test } from 'vitest';
import { type FullGraph, firewallDigest } from '../../core/model/graph.ts';
import { deltaOf } from '../../core/model/graph-delta.testkit.ts';
import { GraphKeeper } from './graph-keeper.ts';

const NO_RULES = { in: [], out: [] };

function graph(version: number, peers: readonly string[], more: Partial<FullGraph> = {}): FullGraph {
  return {
    kind: 'full',
    epoch: 'e1',
    version,
    reason: 'a change',
    self: { id: 'p_self', name: 'self', address: '10.96.0.1', cidr: '10.96.0.0/24', phase: 'ready' },
    peers: peers.map((id, index) => ({
      id,
      name: id,
      publicKey: `key of ${id}`,
      address: `10.96.0.${index + 2}`,
      allowedIps: [`10.96.0.${index + 2}/32`],
    })),
    firewall: { digest: firewallDigest(NO_RULES), full: NO_RULES },
    relay: null,
    stun: [],
    checkpoint: null,
    ...more,
  };
}

const FRESH = true;

describe('a pushed graph', () => {
  test('that is whole and fresh is used, also as the first one', () => {
    const keeper = new GraphKeeper();
    const first = graph(5, ['p_a']);
    expect(keeper.take(first, FRESH)).toEqual({ do: 'use', graph: first });
    expect(keeper.held).toBe(first);
  });

  test('that is the first one is confirmed when it may be a recording', () => {
    expect(new GraphKeeper().take(graph(5, ['p_a']), false).do).toBe('confirm');
  });

  test('that is a delta leads from the graph held to the next', () => {
    const [before, after] = [graph(5, ['p_a', 'p_b']), graph(7, ['p_b', 'p_c'])];
    const keeper = new GraphKeeper(before);
    expect(keeper.take(deltaOf(before, after), FRESH)).toEqual({ do: 'use', graph: after });
  });

  test('that is a delta leads on from a later version of the same, which was fetched', () => {
    const [before, after] = [graph(5, ['p_a']), graph(9, ['p_a', 'p_b'])];
    const keeper = new GraphKeeper({ ...before, version: 7 });
    expect(keeper.take(deltaOf(before, after), FRESH)).toEqual({ do: 'use', graph: after });
  });

  test('that is a delta from a missed version asks for the whole, and changes nothing', () => {
    const held = graph(5, ['p_a']);
    const keeper = new GraphKeeper(held);
    expect(keeper.take(deltaOf(graph(6, ['p_a']), graph(7, ['p_b'])), FRESH).do).toBe('ask');
    expect(new GraphKeeper().take(deltaOf(held, graph(7, ['p_b'])), FRESH).do).toBe('ask');
    expect(keeper.held).toBe(held);
  });

  test('of an older version is ignored, and of the same version unless it is fresh and whole', () => {
    const keeper = new GraphKeeper(graph(5, ['p_a']));
    expect(keeper.take(graph(4, []), FRESH)).toEqual({ do: 'ignore' });
    expect(keeper.take(graph(5, ['p_b']), false)).toEqual({ do: 'ignore' });
    expect(keeper.take(graph(5, ['p_b']), FRESH).do).toBe('use');
  });

  test('of another epoch may go back in version when it is fresh, and is confirmed otherwise', () => {
    const restored = graph(2, ['p_a'], { epoch: 'e2' });
    expect(new GraphKeeper(graph(5, ['p_a'])).take(restored, false).do).toBe('confirm');
    expect(new GraphKeeper(graph(5, ['p_a'])).take(restored, FRESH).do).toBe('use');
  });

  test('that drops more than half of the peers without a reason is confirmed, with one it is used', () => {
    const held = graph(5, ['p_a', 'p_b', 'p_c', 'p_d']);
    const empty = graph(6, [], { reason: 'requested' });
    const keeper = new GraphKeeper(held);
    expect(keeper.take(empty, FRESH).do).toBe('confirm');
    expect(keeper.take(deltaOf(held, { ...empty, reason: '' }), FRESH).do).toBe('confirm');
    expect(keeper.held).toBe(held);
    expect(keeper.confirm(empty)).toBe(empty);
    expect(new GraphKeeper(held).take({ ...empty, reason: 'revoked devices' }, FRESH).do).toBe('use');
    expect(new GraphKeeper(held).take({ ...empty, peers: held.peers.slice(2) }, FRESH).do).toBe('use');
  });

  test('of another node is ignored', () => {
    const other = graph(9, [], { self: { ...graph(1, []).self, id: 'p_other' } });
    expect(new GraphKeeper(graph(5, [])).take(other, FRESH)).toEqual({ do: 'ignore' });
  });
});
