import type { PeerStatus } from '../client/agent/node-status.ts';
import { CliError, EXIT } from './exit.ts';
import { nodeStatus } from './node-agent.ts';
import { withoutOverlayText } from './node-blocked.ts';
import { nodeDirectory } from './node-directory.ts';
import { HINTS } from './node-hints.ts';
import { ownNode } from './own-node.ts';

/** Finds a peer of the running node by name, id or any of its overlay addresses. @throws CliError where it has none */
export async function findPeer(configDir: string | undefined, wanted: string): Promise<PeerStatus> {
  const status = await nodeStatus(configDir);
  const { control, node, peers } = status;
  const name = wanted.replaceAll(' ', '-').toLowerCase();
  const found = peers.find((peer) => peer.id === wanted || peer.address === wanted || peer.name.toLowerCase() === name);
  if (found) return found;
  const { graph } = await ownNode(configDir);
  // While a network is renumbered, a peer has its former address too.
  const former = graph?.peers.find(({ allowedIps }) => allowedIps.some((one) => isHost(one, wanted)));
  const renumbered = former && peers.find(({ id }) => id === former.id);
  if (renumbered) return renumbered;
  const ownNames = [node.id, node.address, graph?.self.former?.address, node.name.toLowerCase()];
  if (ownNames.some((own) => own === wanted || own === name)) {
    const at = node.address === null ? '' : ` (${node.address})`;
    throw new CliError(`${wanted} is this node itself${at}: name one of its peers.`, EXIT.input);
  }
  const list = HINTS.listPeers({ server: control.server });
  throw new CliError(
    withoutOverlayText(status, nodeDirectory(configDir)) ??
      `This node has no peer ${wanted}: no policy lets the two talk, or there is none of that name. Which of both: ${list}`,
    EXIT.notFound,
  );
}

function isHost(cidr: string, address: string): boolean {
  return cidr === `${address}/32` || cidr === `${address}/128`;
}
