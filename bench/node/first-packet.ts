import { freshDirectory } from '../../test/meshd.ts';
import type { Natlab } from '../../test/natlab.ts';
import { type LabNode, startLabNode } from '../../test/natlab-node.ts';

const PATIENCE_SECONDS = 20;

/**
 * From `mesh up` of a registered node to the first echo of a peer that is up, both of them settled before with each other.
 *
 * @returns milliseconds
 */
export async function firstPacket(lab: Natlab, peer: LabNode, name: string, directory: string): Promise<number> {
  const { address } = (await peer.status()).node;
  const began = performance.now();
  const node = await startLabNode(lab.host(name), { directory });
  await node.until(({ node: { address: own } }) => own !== null);
  const args = ['-n', '-c', '1', '-i', '0.05', '-w', `${PATIENCE_SECONDS}`, address ?? ''];
  await node.host.must('ping', args, { timeoutMs: 30_000 });
  const took = performance.now() - began;
  await node.stop();
  return took;
}

/** A directory of a node that was registered and has run once, so that what is measured is `up` alone. */
export async function enrolled(lab: Natlab, name: string, token: string): Promise<string> {
  const node = await startLabNode(lab.host(name), { token, directory: freshDirectory() });
  await node.until(({ node: { address } }) => address !== null);
  await node.stop();
  return node.directory;
}
