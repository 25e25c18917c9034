import { loadavg } from 'node:os';
import { machine } from './report.ts';
import { measureStorm, type Storm } from './storm/measure.ts';

/**
 * Devices that join at once: `node bench/storm.ts [--quick] [devices [group]]`. Each registers over HTTP, comes to the bus as a node
 * does and keeps its graph; a peer may talk to the others of its group. Without figures: 1,000 in one group, 5,000 in groups of 51.
 */
const figures = process.argv.slice(2).filter((text) => /^\d+$/.test(text));
const storms = figures.length > 0 ? [figures.map(Number)] : [[1_000], [5_000, 51]];
const quick = process.argv.includes('--quick') ? 10 : 1;

console.log(`${machine()}, load average ${loadavg()[0]?.toFixed(1)}.\n`);
console.log(
  '| Devices | neighbours at most | registered, s | all graphs right, s | register p50, p99 ms | healthz p99, worst ms | plane, processor s | whole graphs | deltas | MB | RSS MB |',
);
console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |');
for (const [devices = 0, group = devices] of storms) {
  const count = Math.ceil(devices / quick);
  const storm = await measureStorm(count, Math.min(group, count));
  console.log(`| ${[count, Math.min(group, count) - 1, ...cellsOf(storm)].join(' | ')} |`);
}

function cellsOf({ registered, settled, register, healthz, cpuS, full, delta, bytes, rss }: Storm): string[] {
  const at = (values: readonly number[], share: number) =>
    [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)]?.toFixed(1) ?? '-';
  return [
    (registered / 1_000).toFixed(1),
    (settled / 1_000).toFixed(1),
    `${at(register, 0.5)}, ${at(register, 0.99)}`,
    `${at(healthz, 0.99)}, ${at(healthz, 1)}`,
    cpuS.toFixed(1),
    full.toLocaleString('en'),
    delta.toLocaleString('en'),
    (bytes / 1e6).toFixed(0),
    (rss / 1e6).toFixed(0),
  ];
}
