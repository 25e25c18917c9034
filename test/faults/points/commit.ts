import type { World } from '../world.ts';

const SPAN_MS = 200;

/** In the midst of writes of all sorts: single ones, batches, devices that join and leave. */
export async function killInCommit(world: World): Promise<void> {
  await world.killDuring('commit', async () => undefined, SPAN_MS);
}
