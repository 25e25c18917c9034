import { expect, onTestFinished, test } from 'vitest';
import { DAMAGES } from './damage.ts';
import { damageAndRestore } from './disk.ts';
import { randomOf } from './random.ts';
import { World } from './world.ts';

const isLong = process.env['MESH_LONG'] === '1';
const SEED = Number(process.env['MESH_TEST_SEED'] ?? 20_261_126);
const TIMES = isLong ? 20 : 1;
const PATIENCE_MS = isLong ? 12 * 3_600_000 : 600_000;
const random = randomOf(SEED);
/** The short run takes two by the seed. */
const chosen = isLong ? DAMAGES : [DAMAGES[random.below(3)], DAMAGES[3 + random.below(2)]].filter((each) => !!each);

test(`of a database that is damaged (seed ${SEED}) nothing is lost without a word, and the backup brings back what it had`, {
  timeout: PATIENCE_MS,
}, async () => {
  const world = new World(random);
  onTestFinished(() => world.close());
  await world.victim.start();
  await world.settle();
  for (const damage of chosen) {
    let refused = 0;
    for (let count = 0; count < TIMES; count += 1) refused += (await damageAndRestore(world, damage)) ? 1 : 0;
    process.stderr.write(`${damage.name}: ${TIMES} times, refused ${refused} times\n`);
    expect([damage.name, world.findings]).toEqual([damage.name, []]);
  }
});
