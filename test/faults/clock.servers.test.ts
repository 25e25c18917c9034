import { expect, onTestFinished, test } from 'vitest';
import { freshDirectory } from '../kits/process/meshd.ts';
import { isInstalled } from '../kits/process/needs.ts';
import { hostIn } from '../kits/process/set-clock.ts';
import { killInCommit } from './points/commit.ts';
import { killInWorkspace } from './points/workspace.ts';
import { randomOf } from './random.ts';
import { World } from './world.ts';

const isLong = process.env['MESH_LONG'] === '1';
const SEED = Number(process.env['MESH_TEST_SEED'] ?? 20_261_126);
const STEPS = isLong ? 60 : 5;
const PATIENCE_MS = isLong ? 12 * 3_600_000 : 300_000;
/** From the real time, so that each is a step from the one before: back, forward, and so small that it is hardly one. */
const OFFSETS = ['-20m', '-8m', '-1m', '-2s', '+0', '+2s', '+1m', '+8m'];

test.skipIf(!isInstalled('faketime'))(
  'a control plane whose host is set back and forward while it is killed has lost nothing, in the order in which it was done',
  { timeout: PATIENCE_MS },
  async () => {
    const random = randomOf(SEED);
    const directory = freshDirectory();
    const { set, env } = hostIn(directory);
    const world = new World(random, { directory, env });
    onTestFinished(() => world.close());
    await world.victim.start();
    await world.settle();
    for (let step = 0; step < STEPS; step += 1) {
      // While it runs, or while it is down.
      const [now, later] = [random.pick(OFFSETS), random.pick(OFFSETS)];
      set(now);
      await random.pick([killInCommit, killInWorkspace])(world);
      if (random.chance(0.5)) set(later);
      await world.comeBack();
      expect([SEED, now, later, world.findings]).toEqual([SEED, now, later, []]);
    }
  },
);
