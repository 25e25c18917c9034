import type { LabHost, Natlab } from '../../test/kits/lab/natlab.ts';
import { type LabNode, labNodes } from '../../test/kits/lab/natlab-node.ts';
import type { LabPlane } from '../../test/kits/lab/natlab-plane.ts';

/** @throws Error when nothing answers */
export async function firstEcho(from: LabHost, address: string): Promise<void> {
  if (!(await from.reaches(address))) throw new Error(`${from.name} had no answer from ${address}.`);
}

/**
 * From `mesh up` of a registered node to the first echo of a peer that is up, both of them settled before with each other.
 *
 * @returns milliseconds
 */
export async function firstPacket(node: LabNode, peer: LabNode): Promise<number> {
  const { address } = (await peer.status()).node;
  const began = performance.now();
  node.start();
  await node.until(({ node: { address: own } }) => own !== null);
  await firstEcho(node.host, address ?? '');
  const took = performance.now() - began;
  await node.stop();
  return took;
}

/** A node that was registered and has run once, so that what is measured is `up` alone. */
export async function settled(lab: Natlab, plane: LabPlane, name: string): Promise<LabNode> {
  const { [name]: node } = await labNodes(lab, plane, [name]);
  if (!node) throw new Error(`The lab has no ${name}.`);
  await node.until(({ node: { address } }) => address !== null);
  await node.stop();
  return node;
}
