import { describe, expect, test } from 'vitest';
import { API_VERSION } from '../core/base/record.ts';
import type { PolicySpec } from '../core/model/policy.ts';
import { MAX_WEIGHT, weightOf } from '../core/reachability/weight.ts';
import { buildWorkspaceKit, refusalOf } from './kits/plane/workspace-kit.ts';
import { seedPeers } from './kits/records/seed-peers.ts';

/** No network becomes heavier than the engine can compute for everyone, whoever writes and in whichever way. */

const GROUPS = 40;
const RULES = 100;
/** Rules of one policy that waits; more are too large to store. */
const PART = RULES / 4;
const values = (seed: number) =>
  Array.from({ length: GROUPS }, (_, group) => `g${group}`).filter(
    (_, group) => Math.floor(Math.abs(Math.sin(seed * 97 + group * 13)) * 10_000) % 2 === 1,
  );
const selecting = (seed: number) => ({
  matchExpressions: [{ key: 'g', operator: 'In' as const, values: values(seed) }],
});

/** A policy that tells most pairs of groups apart, by rules for single ports. */
function heavy(nth: number): PolicySpec {
  const ingress = Array.from({ length: RULES }, (_, rule) => ({
    from: [{ peerSelector: selecting(nth * RULES + rule) }],
    ports: [{ protocol: 'TCP' as const, port: 1 + 2 * (nth * RULES + rule) }],
  }));
  return { action: 'ALLOW', peerSelector: selecting(10_000 + nth), ingress };
}

const document = (nth: number) => ({
  apiVersion: API_VERSION,
  kind: 'MeshPolicy',
  metadata: { name: `heavy-${nth}` },
  spec: heavy(nth),
});
const created = (nth: number) => ({ name: `heavy-${nth}`, spec: heavy(nth) });
const light = {
  action: 'ALLOW',
  peerSelector: {},
  ingress: [{ from: [{ peerSelector: {} }], ports: [{ protocol: 'TCP', port: 22 }] }],
};

/** The policies that {@link GROUPS} peers can have at once; with one more the network is too heavy. */
const BEARABLE = 3;

async function heavyKit({ policies = BEARABLE, groups = GROUPS } = {}) {
  const kit = await buildWorkspaceKit();
  const peers = Array.from({ length: GROUPS }, (_, nth) => [`n${nth}`, nth < groups ? { g: `g${nth}` } : {}] as const);
  await seedPeers(kit.services, kit.workspace, Object.fromEntries(peers));
  for (let nth = 0; nth < policies; nth += 1) await kit.ask('create_policy', created(nth));
  const weight = async () => {
    const { states } = kit.services;
    return weightOf(states.reachability(await states.current(kit.workspace), kit.clock.now()));
  };
  return { ...kit, weight };
}

type HeavyKit = Awaited<ReturnType<typeof heavyKit>>;

const WAYS: readonly [string, (kit: HeavyKit) => Promise<unknown>][] = [
  ['a policy of an administrator', ({ ask }) => ask('create_policy', created(BEARABLE))],
  ['a policy of an operator', ({ as }) => as('operator')('create_policy', created(BEARABLE))],
  [
    'a policy of an API token',
    ({ call, person, workspace }) => {
      const as = { ...person('operator', workspace), tokenId: 'tok_ci', interactive: false };
      return call('create_policy', created(BEARABLE), { as, workspace });
    },
  ],
  [
    'a policy of a root agent',
    async ({ ask, call }) => {
      const reach = [{ to: [{ peerSelector: {} }] }];
      const scopes = ['network:read', 'network:write'];
      const { token } = await ask('create_agent', { name: 'deployer', scopes, reach, ttl: '2h' });
      return call('create_policy', created(BEARABLE), { bearer: token });
    },
  ],
  ['documents that are applied', ({ ask }) => ask('apply_resources', { documents: [document(BEARABLE)] })],
];

describe('a network that would be too heavy is refused, and stays as it was', () => {
  test.each(WAYS)('as %s', async (_way, write) => {
    await using kit = await heavyKit();
    expect(await refusalOf(write(kit))).toBe('payload_too_large');
    expect(await kit.weight()).toBeLessThanOrEqual(MAX_WEIGHT);
    await kit.ask('create_policy', { name: 'light', spec: light });
  });

  test('as another version of a policy', async () => {
    await using kit = await heavyKit();
    await kit.ask('create_policy', { name: 'light', spec: light });
    expect(await refusalOf(kit.ask('update_policy', { id: 'light', spec: heavy(BEARABLE) }))).toBe('payload_too_large');
  });

  test('as a change that a person approves after others were made', async () => {
    await using kit = await heavyKit({ policies: BEARABLE - 1 });
    await kit.ask('update_workspace', { settings: { requireApproval: true } });
    const asked: { workflow_id: string }[] = [];
    for (const nth of [BEARABLE - 1, BEARABLE]) {
      const whole = heavy(nth);
      for (let from = 0; from < RULES; from += PART) {
        const spec = { ...whole, ingress: whole.ingress?.slice(from, from + PART) };
        asked.push(await kit.as('operator')('create_policy', { name: `part-${nth}-${from}`, spec }));
      }
    }
    const states: string[] = [];
    for (const { workflow_id: id } of asked) {
      // The last ones are refused: with those before, they are not what they were any more.
      await kit.ask('approve_workflow', { id }).catch((error) => expect(error).toMatchObject({ code: 'plan_stale' }));
      states.push((await kit.ask('get_workflow', { id })).status);
    }
    expect([states[0], states.at(-1)]).toEqual(['executed', 'failed']);
    expect(await kit.weight()).toBeLessThanOrEqual(MAX_WEIGHT);
  });

  const JOINS: readonly [string, (kit: HeavyKit, nth: number) => Promise<unknown>][] = [
    ['labels of peers', ({ ask }, nth) => ask('update_peer', { id: `n${nth}`, labels: { g: `g${nth}` } })],
    [
      'devices that join with labels',
      async (kit, nth) => {
        const { token } = await kit.ask('generate_join_token', { name: `t${nth}`, labels: { g: `g${nth}` } });
        return kit.join(`late-${nth}`, { token });
      },
    ],
  ];

  test.each(JOINS)('as %s', async (_way, write) => {
    const few = 12;
    await using kit = await heavyKit({ policies: 6, groups: few });
    const outcomes: string[] = [];
    for (let nth = few; nth < GROUPS && !outcomes.includes('payload_too_large'); nth += 1) {
      outcomes.push(
        await write(kit, nth).then(
          () => 'written',
          () => refusalOf(write(kit, nth)),
        ),
      );
    }
    expect(outcomes.slice(-2)).toEqual(['written', 'payload_too_large']);
    expect(await kit.weight()).toBeLessThanOrEqual(MAX_WEIGHT);
  });
});
