import { outages } from '../test/natlab/outages.ts';
import { withPair } from '../test/natlab/pair.ts';

/** The table of docs/benchmarks/outages.md: `node bench/outages.ts [rounds] [part of a name]`, as root. */
const [rounds = '1', part = ''] = process.argv.slice(2);
/** Less than that is the probe and the machine. */
const NOTICED_MS = 100;

const cells = new Map<string, Map<string, string>>();
for (const outage of outages.filter((each) => `${each.kind ?? 'root'} ${each.path}: ${each.name}`.includes(part))) {
  const seen: string[] = [];
  for (let round = 0; round < Number(rounds); round += 1) {
    const { ms, wholeMs = ms } = await withPair(outage, outage.measure).catch((error: Error) => {
      console.error(error.message);
      return { ms: Number.POSITIVE_INFINITY, wholeMs: Number.POSITIVE_INFINITY };
    });
    seen.push(shown(wholeMs, ms));
  }
  const cell = `${seen.join(', ')} (${outage.limitMs})`;
  const name = outage.kind === 'userspace' ? `userspace: ${outage.name}` : outage.name;
  console.error(`${outage.path}: ${name}: ${cell}`);
  const row = cells.get(name) ?? new Map();
  cells.set(name, row.set(outage.path, cell));
}
console.log('| What happens | direct (limit) | relayed (limit) |\n| --- | --- | --- |');
for (const [name, row] of cells) console.log(`| ${name} | ${row.get('direct') ?? ''} | ${row.get('relayed') ?? ''} |`);

/** The whole outage, and the part of it after what went wrong was over. */
function shown(wholeMs: number, ms: number): string {
  const [whole, rest] = [wholeMs, ms].map((time) => (time < NOTICED_MS ? 'none' : `${Math.round(time)}`));
  return whole === rest ? `${whole}` : `${whole}; ${rest}`;
}
