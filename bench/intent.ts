/**
 * Plans of the built-in planner with their whole proof, at the sizes it promises: `node bench/intent.ts [rounds]`; with
 * `--orders` orders beside the typed changes that they come to. Prints Markdown tables of medians; `docs/benchmarks/intent.md`
 * keeps them.
 */
import { parseArgs } from 'node:util';
import { assertionDraft } from '../core/assertions/assertion.ts';
import { checker } from '../core/assertions/check.ts';
import { brokenAssertions } from '../core/assertions/guard.ts';
import { newId } from '../core/base/ids.ts';
import type { Op } from '../core/base/ports.ts';
import { draftOf, type StoredRecord } from '../core/base/record.ts';
import { planChanges } from '../core/changes/changes.ts';
import { buildNetworkStates } from '../core/state/states.ts';
import { buildKit, type Kit, person } from '../test/kits/plane/kit.ts';
import { peer, policy } from '../test/kits/records/records.ts';
import { parseYaml } from '../tools/yaml.ts';
import { networkOf, type Size } from './network.ts';
import { machine, median } from './report.ts';

const { positionals, values } = parseArgs({ allowPositionals: true, options: { orders: { type: 'boolean' } } });
const ROUNDS = Number(positionals[0] ?? 5);
const BATCH = 500;
const ASSERTIONS = 1_000;
const WHY = { actor: 'user:bench', reason: 'bench', requestId: 'r' } as const;

const SIZES: readonly Size[] = [
  { peers: 1_000, policies: 100 },
  { peers: 10_000, policies: 100 },
  { peers: 10_000, policies: 1_000 },
];

/** From what touches two apps to what touches every peer. */
const PLANS: readonly (readonly [string, Record<string, unknown>])[] = [
  ['allow', { intent: 'let app=app-3 reach app=app-4 on port 5432' }],
  ['deny', { intent: 'deny app=app-1 access to app=app-2' }],
  ['isolate one', { intent: 'isolate peer-17' }],
  ['default', { intent: 'deny everything by default' }],
];

const ends = { from: ['app=app-3'], to: ['app=app-4'], ports: ['tcp/5432'] };
const ORDERS = [
  { do: 'allow', ...ends },
  { do: 'deny', ...ends },
  { do: 'only', ...ends },
  { do: 'deny', from: ['peers'], to: ['peer-17'], ports: ['tcp/22'] },
] as const;

if (values.orders) {
  console.log('| Peers / policies | order | as orders | as typed changes | ratio |');
  console.log('|---|---|---|---|---|');
  await orderFigures({ peers: 1_000, policies: 100 });
  console.log(`\nMedian of ${ROUNDS} rounds, ${machine()}, processor time of one thread.`);
  process.exit();
}

console.log('| Peers / policies | plan | cold | warm | warm, wall clock | pairs that change |');
console.log('|---|---|---|---|---|---|');
for (const size of SIZES) await figures(size);
console.log('\n| Peers / policies | assertions | guard of a write | plan |');
console.log('|---|---|---|---|');
for (const size of SIZES) await guardFigures(size);
console.log(`\nMedian of ${ROUNDS} rounds, ${machine()}, processor time of one thread.`);

async function figures(size: Size): Promise<void> {
  await using kit = await buildKit();
  const workspace = await kit.workspace(undefined, 20_000);
  await fill(kit, workspace, size);
  for (const [name, input] of PLANS) {
    const [cold, warm, wall]: [number[], number[], number[]] = [[], [], []];
    let pairs = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const plan = planner(kit, workspace);
      await timed(cold, [], () => plan(input));
      // Another intent at the same revision, then the one that is measured: nothing of it is kept, its base is.
      await plan({ intent: 'deny app=app-5 access to app=app-6' });
      const { effect } = await timed(warm, wall, () => plan(input));
      pairs = effect.opened_pairs + effect.closed_pairs;
    }
    const cells = [
      `${size.peers.toLocaleString('en')} / ${size.policies.toLocaleString('en')}`,
      name,
      ...[cold, warm, wall].map((times) => `${median(times).toFixed(0)} ms`),
      pairs.toLocaleString('en'),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

/** An order and the typed changes that it comes to, in turn, each on a base that is compiled already. */
async function orderFigures(size: Size): Promise<void> {
  await using kit = await buildKit();
  const workspace = await kit.workspace(undefined, 20_000);
  await fill(kit, workspace, size);
  for (const order of ORDERS) {
    const { orders, changes }: { orders: object; changes: object[] } = {
      orders: { orders: [order] },
      changes: (await planner(kit, workspace)({ orders: [order] })).changes.map(typedChange),
    };
    const [ordered, typed]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      for (const [times, input] of [
        [ordered, orders],
        [typed, { intent: 'bench', changes }],
      ] as const) {
        const plan = planner(kit, workspace);
        await plan({ intent: 'deny app=app-5 access to app=app-6' });
        await timed(times, [], () => plan({ ...input }));
      }
    }
    const [one, other] = [median(ordered), median(typed)];
    const name = `${order.do} ${order.from} to ${order.to}`;
    console.log(
      `| ${size.peers.toLocaleString('en')} / ${size.policies} | ${name} | ${one.toFixed(0)} ms | ${other.toFixed(0)} ms | ${(one / other).toFixed(2)} |`,
    );
  }
}

/** A change of an answer as callers send it. */
function typedChange({
  action,
  resource,
  name,
  after,
}: {
  action: string;
  resource: string;
  name: string;
  after: string;
}) {
  if (action === 'delete') return { action, resource, name };
  const [document] = parseYaml(after) as { spec: unknown }[];
  return { action, resource, name, spec: document?.spec };
}

/** Assertions about apps, labels and single peers, each of which holds. */
async function guardFigures(size: Size): Promise<void> {
  await using kit = await buildKit();
  const workspace = await kit.workspace(undefined, 20_000);
  await fill(kit, workspace, size);
  await assertAll(kit, workspace, size.peers);
  const { services } = kit;
  const before = await services.states.current(workspace);
  const change = {
    action: 'create',
    resource: 'MeshPolicy',
    name: 'base',
    spec: { action: 'DENY', peerSelector: {} },
  } as const;
  const { after } = planChanges(before, [change], services.clock.now());
  const [guard, planned]: [number[], number[]] = [[], []];
  const plan = planner(kit, workspace);
  await plan({ intent: 'deny app=app-5 access to app=app-6' });
  for (let round = 0; round < ROUNDS; round++) {
    await timed(guard, [], () => brokenAssertions(services, before, after));
    await timed(planned, [], () => plan({ intent: 'deny app=app-1 access to app=app-2' }));
  }
  const cells = [
    `${size.peers.toLocaleString('en')} / ${size.policies.toLocaleString('en')}`,
    ASSERTIONS.toLocaleString('en'),
    ...[guard, planned].map((times) => `${median(times).toFixed(0)} ms`),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

async function assertAll({ services }: Kit, workspace: string, peers: number): Promise<void> {
  const { store, states, clock } = services;
  const state = await states.current(workspace);
  const check = checker(state, states.reachability(state, clock.now()));
  const termOf = (index: number) =>
    [`app=app-${index % 100}`, `zone=zone-${index % 5}`, `peer-${index % peers}`][index % 3] ?? '*';
  const ops = Array.from({ length: ASSERTIONS }, (_, index): Op => {
    const asked = { src: termOf(index), dst: termOf(7 * index + 1), protocol: 'TCP', port: 5_432 } as const;
    const spec = { ...asked, expect: check({ ...asked, expect: 'reachable' }) ? 'unreachable' : 'reachable' } as const;
    return { op: 'create', record: assertionDraft(`a-${index}`, spec) };
  });
  for (let start = 0; start < ops.length; start += BATCH) {
    await store.commit(workspace, ops.slice(start, start + BATCH), WHY);
  }
}

/** Plans over states and an engine of their own, as a process has that was just started. */
function planner({ services, call }: Kit, workspace: string) {
  Object.assign(services, { states: buildNetworkStates({ store: services.store }) });
  const as = person('operator', workspace);
  return (input: Record<string, unknown>) =>
    call('plan_network_change', { ...input, dry_run: true }, { as, workspace });
}

async function fill({ services: { store } }: Kit, workspace: string, size: Size): Promise<void> {
  const model = networkOf(size);
  const records: StoredRecord[] = [
    ...model.peers.map(({ name, labels, address }) => peer(name, { labels, ...(address && { address }) })),
    ...model.policies.map(({ name, spec }) => policy(name, spec as Parameters<typeof policy>[1])),
  ];
  const ops = records.map((record): Op => ({ op: 'create', record: { ...draftOf(record), uid: newId('r') } }));
  for (let start = 0; start < ops.length; start += BATCH) {
    await store.commit(workspace, ops.slice(start, start + BATCH), WHY);
  }
}

async function timed<T>(cpu: number[], wall: number[], run: () => Promise<T>): Promise<T> {
  const [begun, start] = [performance.now(), process.threadCpuUsage()];
  const result = await run();
  const { user, system } = process.threadCpuUsage(start);
  cpu.push((user + system) / 1_000);
  wall.push(performance.now() - begun);
  return result;
}
