/**
 * What a model is shown of a network for an intent: `node bench/retrieval.ts [rounds]`. Prints a Markdown table of medians,
 * with the names of the revision indexed already; `docs/benchmarks/intent.md` keeps one.
 */
import { parseArgs } from 'node:util';
import { retrieve } from '../llm/retrieval/retrieval.ts';
import { peer, stateWith } from '../test/kits/records/records.ts';
import { networkOf } from './network.ts';
import { machine, spread } from './report.ts';

const { positionals } = parseArgs({ allowPositionals: true });
const ROUNDS = Number(positionals[0] ?? 50);
const SIZES = [1_000, 10_000, 100_000];
const INTENT = 'let tier-1 in zone-2 reach app-4 on port 5432, but not peer-17';

console.log('| Peers | retrieval |');
console.log('|---|---|');
for (const size of SIZES) {
  const { peers } = networkOf({ peers: size, policies: 0 });
  const state = stateWith(
    ...peers.map(({ name, labels, address }) => peer(name, { labels, ...(address && { address }) })),
  );
  retrieve({ intent: 'warm', state });
  const times = Array.from({ length: ROUNDS }, () => {
    const started = performance.now();
    retrieve({ intent: INTENT, state });
    return performance.now() - started;
  });
  console.log(`| ${size.toLocaleString('en')} | ${spread(times)} ms |`);
}
console.log(`\nMedian of ${ROUNDS} rounds with the lowest and the highest, ${machine()}.`);
