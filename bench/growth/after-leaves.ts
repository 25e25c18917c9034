import type { Op } from '../../core/base/ports.ts';
import { draftOf } from '../../core/base/record.ts';
import { removePeers } from '../../core/peers/peers.ts';
import { enrol, joinToken } from '../../test/kits/plane/devices.ts';
import { buildKit, type Kit } from '../../test/kits/plane/kit.ts';
import { peer } from '../../test/kits/records/records.ts';
import { addressOf } from '../graph/network.ts';
import { median } from '../report.ts';

export interface AfterLeaves {
  readonly leaves: number;
  /** Of the main thread for a join, round by round. */
  readonly cpuMs: readonly number[];
  readonly wallMs: number;
}

const ROUNDS = 7;
const JOINS = 40;
const BATCH = 500;
const PLACES = 250_000;
const WHY = { actor: 'user:bench', reason: 'bench', requestId: 'bench' } as const;

/** What a registration costs once so many devices have come and gone, in one workspace that goes on. */
export async function measureAfterLeaves(counts: readonly number[]): Promise<AfterLeaves[]> {
  await using kit = await buildKit({ now: Date.now() });
  const workspace = await kit.workspace('bench', PLACES);
  const token = await joinToken(kit, workspace, { usageLimit: 10_000 });
  let [left, joined] = [0, 0];
  const join = async () => {
    const begun = performance.now();
    await enrol(kit, token, `device-${joined++}`);
    return performance.now() - begun;
  };
  const found: AfterLeaves[] = [];
  for (const leaves of counts) {
    for (; left < leaves; left += BATCH) await comeAndGo(kit, workspace, left, Math.min(BATCH, leaves - left));
    await join();
    const cpuMs: number[] = [];
    const waits: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = process.threadCpuUsage();
      for (let count = 0; count < JOINS; count += 1) waits.push(await join());
      const { user, system } = process.threadCpuUsage(before);
      cpuMs.push((user + system) / 1_000 / JOINS);
    }
    found.push({ leaves, cpuMs, wallMs: median(waits) });
  }
  return found;
}

/** Devices that were there and are removed as those are that leave, many in a commit. */
async function comeAndGo({ services }: Kit, workspace: string, from: number, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, nth) => `gone-${from + nth}`);
  const ops = names.map((name, nth): Op => {
    // Behind those that register, which get the lowest.
    const address = addressOf(65_536 + from + nth);
    return { op: 'create', record: draftOf(peer(name, { address })) };
  });
  await services.store.commit(workspace, ops, WHY);
  const state = await services.states.current(workspace);
  const peers = names.flatMap((name) => state.peers.get(name) ?? []);
  await removePeers(services, state, peers, WHY);
}
