import { expect } from 'vitest';
import type { LabNode } from '../kits/lab/natlab-node.ts';
import type { Pair } from './grid.ts';

/** First packet at the latest, and how long a direct path may take to be found. */
const FIRST_PACKET_MS = 15_000;
const DIRECT_MS = 20_000;

export interface Found {
  readonly path: string;
  readonly endpoint: string;
}

/** Waits for the best path of a pair and sends packets over it, from both sides. */
export async function meet(
  { places, nodes: [from, to] }: Pair,
  isDirect: boolean,
  nodes: ReadonlyMap<string, LabNode>,
): Promise<Found> {
  const [left, right] = [nodes.get(from), nodes.get(to)];
  if (!left || !right) throw new Error(`no node for ${from} and ${to}`);
  const wait = FIRST_PACKET_MS / 1_000;
  const { address } = await left.untilPeer(to, ({ path }) => path !== null, FIRST_PACKET_MS);
  expect([places, await left.reaches(address, wait)]).toEqual([places, true]);
  if (isDirect) {
    await left.untilPeer(to, ({ path }) => path === 'direct', DIRECT_MS);
    await right.untilPeer(from, ({ path }) => path === 'direct', DIRECT_MS);
  }
  const back = (await right.untilPeer(from, ({ path }) => path !== null)).address;
  // Late is not lost: with 20 nodes on one machine an answer may take longer than an echo waits.
  const both = await Promise.all([left.reaches(address, wait), right.reaches(back, wait)]);
  expect([places, both]).toEqual([places, [true, true]]);
  const { path, endpoint } = await left.untilPeer(to, () => true);
  return { path: path ?? 'none', endpoint: endpoint ?? '' };
}
