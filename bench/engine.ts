/**
 * The reachability engine at the sizes it promises: `node bench/engine.ts [rounds]`.
 * Prints a Markdown table of medians; `docs/benchmarks/engine.md` keeps one.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { PolicySpec } from '../core/network/policy.ts';
import { createEngine } from '../core/reachability/engine.ts';
import type { NetworkModel } from '../core/reachability/model.ts';

const { positionals } = parseArgs({ allowPositionals: true });
const ROUNDS = Number(positionals[0] ?? 7);
const POINT_QUERIES = 200_000;
const NOW = 1_767_225_600_000;

/** What services listen on. */
const PORTS = [22, 53, 80, 123, 389, 443, 636, 3_306, 5_432, 5_672, 6_379, 8_080, 8_443, 9_090, 9_200, 27_017];

interface Size {
  readonly peers: number;
  readonly policies: number;
}

const SIZES: readonly Size[] = [
  { peers: 254, policies: 50 },
  { peers: 1_000, policies: 100 },
  { peers: 10_000, policies: 1_000 },
];

console.log(
  '| Peers / policies | classes | compile, all rows | again, presence changed | one policy edited | count pairs | reachable pairs | point query |',
);
console.log('|---|---|---|---|---|---|---|---|');
for (const size of SIZES) console.log(measure(size));
console.log(
  `\nMedian of ${ROUNDS} rounds, Node ${process.version}, ${cpus()[0]?.model ?? 'unknown processor'}, processor time of one thread.`,
);

function measure(size: Size): string {
  const cold: number[] = [];
  const warm: number[] = [];
  const edit: number[] = [];
  const count: number[] = [];
  const query: number[] = [];
  let classes = 0;
  let pairs = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const model = networkOf(size);
    const edited = networkOf(size);
    const again = structuredClone(model);
    const engine = createEngine();
    const reach = timed(cold, () => engine.compile(model).prepare());
    timed(warm, () => engine.compile({ ...again, now: NOW + 1 }).prepare());
    const policies = edited.policies.with(1, { name: 'p1', spec: editOf(edited.policies[1]?.spec as PolicySpec) });
    timed(edit, () => engine.compile({ ...edited, policies }).prepare());
    pairs = timed(count, () => reach.countPairs());
    classes = reach.parts.space.classes.length;
    query.push(pointQueryMs(reach, size.peers));
  }
  const cells = [
    `${size.peers.toLocaleString('en')} / ${size.policies.toLocaleString('en')}`,
    `${classes}`,
    ...[cold, warm, edit, count].map((times) => `${median(times).toFixed(1)} ms`),
    pairs.toLocaleString('en'),
    `${((median(query) * 1e3) / POINT_QUERIES).toFixed(3)} µs`,
  ];
  return `| ${cells.join(' | ')} |`;
}

function pointQueryMs(reach: ReturnType<ReturnType<typeof createEngine>['compile']>, peers: number): number {
  const random = generator(7);
  const names = reach.model.peers.map(({ name }) => name);
  const asked = Array.from(
    { length: POINT_QUERIES },
    () => [names[random(peers)] ?? '', names[random(peers)] ?? '', PORTS[random(PORTS.length)]] as const,
  );
  const times: number[] = [];
  timed(times, () => asked.reduce((yes, [src, dst, port]) => yes + Number(reach.verdict(src, dst, 'TCP', port)), 0));
  return times[0] ?? 0;
}

/** Peers in apps, tiers and zones; policies of a few rules each, one in ten selecting everything, one in ten a DENY. */
function networkOf({ peers, policies }: Size): NetworkModel {
  const random = generator(42);
  const apps = Math.ceil(peers / 8);
  const labelsOf = () => {
    const app = random(apps);
    return {
      app: `app-${app}`,
      tier: `tier-${app % 4}`,
      zone: `zone-${(app + random(2)) % 5}`,
      env: app % 3 === 0 ? 'prod' : 'dev',
    };
  };
  const selectorOf = () => {
    const pick = random(4);
    if (pick === 0) return { matchLabels: { tier: `tier-${random(4)}`, zone: `zone-${random(5)}` } };
    if (pick === 1)
      return {
        matchExpressions: [
          { key: 'app', operator: 'In' as const, values: [`app-${random(apps)}`, `app-${random(apps)}`] },
        ],
      };
    return { matchLabels: { app: `app-${random(apps)}` } };
  };
  const policyOf = (index: number): PolicySpec => ({
    action: index % 10 === 9 ? 'DENY' : 'ALLOW',
    peerSelector: index % 10 === 0 ? {} : selectorOf(),
    ingress: Array.from({ length: 1 + random(3) }, () => ({
      from: [{ peerSelector: selectorOf() }, { peerSelector: selectorOf() }],
      ports: [{ port: PORTS[random(PORTS.length)] }, { protocol: 'UDP' as const, port: 53 }].slice(random(2)),
    })),
    ...(index % 3 === 0 && { egress: [{ to: [{ peerSelector: selectorOf() }, '*' as const].slice(random(2)) }] }),
  });
  return {
    networks: [{ name: 'default', cidr: '10.96.0.0/16', defaultAction: 'ALLOW' }],
    peers: Array.from({ length: peers }, (_, i) => ({
      name: `peer-${i}`,
      labels: labelsOf(),
      network: 'default',
      address: `10.96.${i >> 8}.${i & 255}`,
    })),
    policies: Array.from({ length: policies }, (_, i) => ({ name: `p${i}`, spec: policyOf(i) })),
    now: NOW,
  };
}

/** The same selectors with another port, as most edits are. */
function editOf(spec: PolicySpec): PolicySpec {
  return { ...spec, ingress: (spec.ingress ?? []).map((rule) => ({ ...rule, ports: [{ port: 8_443 }] })) };
}

/** Processor time of this thread in milliseconds, so that other work on the machine does not count. */
function timed<T>(times: number[], run: () => T): T {
  const start = process.threadCpuUsage();
  const result = run();
  const { user, system } = process.threadCpuUsage(start);
  times.push((user + system) / 1_000);
  return result;
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
}

/** A fixed sequence (Park and Miller), so that every run measures the same network. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}
