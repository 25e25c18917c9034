import { beginCommand } from '../command.ts';
import { momentWithin } from '../victim.ts';
import type { World } from '../world.ts';

const SPAN_MS = 700;

/** After a control plane was killed, `meshd compact` is: all is there as before it. */
export async function killInCompaction(world: World, times: number): Promise<void> {
  const { victim, random } = world;
  await victim.kill();
  for (let count = 0; count < times; count += 1) {
    const compact = beginCommand(victim.directory, 'compact');
    await momentWithin(SPAN_MS * victim.slowness, victim.directory, 'mesh.db', random);
    compact.kill();
    const code = await compact.ended;
    if (code !== null && code !== 0) world.findings.push(`meshd compact ended with ${code}: ${compact.stderr()}`);
    world.count('compaction');
  }
}
