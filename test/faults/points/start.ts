import { momentWithin } from '../victim.ts';
import type { World } from '../world.ts';

/** A start is cut off before, while or just after it is up. */
export async function killInStart(world: World, times: number): Promise<void> {
  const { victim, random } = world;
  await victim.kill();
  for (let count = 0; count < times; count += 1) {
    const meshd = victim.begin();
    await Promise.race([momentWithin(victim.startMs, victim.directory, 'mesh.db', random), meshd.ended]);
    if (meshd.child.exitCode !== null) world.findings.push(`a start ended by itself: ${meshd.stderr()}`);
    await victim.kill();
    world.count('start');
  }
}
