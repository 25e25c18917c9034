import { loadavg } from 'node:os';
import { measureAfterLeaves } from './growth/after-leaves.ts';
import { measureOneJoin } from './growth/one-join.ts';
import { measureReaders } from './growth/readers.ts';
import { machine, spread } from './report.ts';

/**
 * What must not grow with what is over or with who listens: `node bench/growth.ts [--quick]`. A join after so many leaves, a join beside
 * so many connected devices, and a commit that so many readers of events hear of. Figures are of the main thread's processor
 * time, which other work on the machine does not lengthen much.
 */
const isQuick = process.argv.includes('--quick');
const scaled = (counts: readonly number[]) => counts.map((count) => (isQuick ? count / 10 : count));

console.log(`${machine()}, load average ${loadavg()[0]?.toFixed(1)}.\n`);
console.log('| Leaves before | a join, processor ms | p50 to the answer, ms |\n| --- | --- | --- |');
for (const { leaves, cpuMs, wallMs } of await measureAfterLeaves(scaled([0, 1_000, 10_000, 100_000]))) {
  console.log(`| ${leaves.toLocaleString('en')} | ${spread(cpuMs)} | ${wallMs.toFixed(1)} |`);
}
console.log(
  '\n| Connected, all next to each other | a join until all are told, processor ms | messages |\n| --- | --- | --- |',
);
for (const devices of scaled([100, 300, 1_000])) {
  const { cpuMs, messages } = await measureOneJoin(devices);
  console.log(`| ${devices.toLocaleString('en')} | ${spread(cpuMs, 0)} | ${messages.toLocaleString('en')} |`);
}
console.log('\n| Readers of events | a commit until all have heard, processor ms |\n| --- | --- |');
for (const { readers, cpuMs } of await measureReaders(scaled([0, 100, 500]))) {
  console.log(`| ${readers.toLocaleString('en')} | ${spread(cpuMs)} |`);
}
