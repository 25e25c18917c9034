import { outages, withPair } from '../test/natlab/outages.ts';

/** How long each outage of test/natlab/outages.ts lasts: `node bench/outages.ts [rounds] [part of a name]`, as root. */
const [rounds = '5', part = ''] = process.argv.slice(2);

for (const outage of outages.filter(({ name, path }) => `${path}: ${name}`.includes(part))) {
  const times: number[] = [];
  for (let round = 0; round < Number(rounds); round += 1) {
    const ms = await withPair(outage, outage.measure).catch((error: Error) => {
      console.error(error.message.split('\n')[0]);
      return Number.POSITIVE_INFINITY;
    });
    times.push(Math.round(ms));
  }
  console.log(`${outage.path}: ${outage.name}: ${times.join(', ')} ms (limit ${outage.limitMs})`);
}
