import { expect, it } from 'vitest';
import type { PolicySpec } from '../model/policy.ts';
import { createEngine } from '../reachability/engine.ts';
import type { NetworkModel } from '../reachability/model.ts';
import { effectOf } from './effect.ts';

const COUNT = 60;
/** Blocks of one size overlap those of others, so that almost every address meets policies of its own. */
const cidrOf = (policy: number, block: number) => {
  const bits = 15 + ((policy + block) % 10);
  const at = ((policy * 7919 + block * 104_729) % 3_900) & ~(2 ** (24 - bits) - 1);
  return `203.${at >> 8}.${at & 255}.0/${bits}`;
};
const manyPorts = (policy: number): PolicySpec => ({
  action: 'ALLOW',
  peerSelector: {},
  ingress: [
    {
      from: Array.from({ length: COUNT }, (_, block) => ({ ipBlock: { cidr: cidrOf(policy, block) } })),
      ports: Array.from({ length: COUNT }, (_, port) => ({ protocol: 'TCP', port: 100 + 2 * policy + 130 * port })),
    },
  ],
});
const network = (specs: readonly PolicySpec[]): NetworkModel => ({
  networks: [{ name: 'n', cidr: '10.96.0.0/24', defaultAction: 'DENY' }],
  peers: ['a', 'b'].map((name) => ({ name, labels: {}, network: 'n' })),
  policies: specs.map((spec, index) => ({ name: `p${index}`, spec })),
  now: 0,
});

it('policies that tell too many sets of ports apart are refused before they fill the memory, and others are computed on', () => {
  const engine = createEngine();
  const many = engine.compile(network(Array.from({ length: COUNT }, (_, policy) => manyPorts(policy))));
  expect(() => effectOf(engine.compile(network([])), many).outside).toThrow(
    expect.objectContaining({ code: 'payload_too_large', message: expect.stringContaining('docs/limits.md') }),
  );
  const few = engine.compile(network([manyPorts(0)]));
  expect(few.parts.ports).not.toBe(many.parts.ports);
  expect(effectOf(engine.compile(network([])), few).outside).not.toEqual([]);
});
