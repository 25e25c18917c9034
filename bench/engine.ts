/**
 * The reachability engine at the sizes it promises: `node bench/engine.ts [rounds]`.
 * Prints a Markdown table of medians; `docs/benchmarks/engine.md` keeps one.
 */

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { type PolicySpec, policySpecSchema } from '../core/model/policy.ts';
import { createEngine } from '../core/reachability/engine.ts';
import { countPairs } from '../core/reachability/matrix.ts';
import { generator, networkOf, PORTS, type Size } from './network.ts';
import { median } from './report.ts';

const { positionals } = parseArgs({ allowPositionals: true });
const ROUNDS = Number(positionals[0] ?? 7);
const POINT_QUERIES = 200_000;
const NOW = 1_767_225_600_000;

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
    const policies = edited.policies.with(1, {
      name: 'p1',
      spec: editOf(policySpecSchema.parse(edited.policies[1]?.spec)),
    });
    timed(edit, () => engine.compile({ ...edited, policies }).prepare());
    pairs = timed(count, () => countPairs(reach));
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
