import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { answering } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
import { nodeStatus } from './node-agent.ts';
import { tcpPortOf } from './node-options.ts';
import { findPeer } from './node-peer.ts';
import { requireNodeRights } from './node-rights.ts';
import { overlayStream } from './overlay-stream.ts';

/** `mesh nc PEER PORT`: standard input and output as a connection to a peer, as ProxyCommand of ssh takes it. */
export function defineNc(command: Command): void {
  command
    .argument('<peer>', 'name, id or overlay address')
    .argument('<port>', 'TCP port', tcpPortOf)
    .option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)');
  answering(command, async (name: string, port: number, { configDir }: { configDir?: string }) => {
    requireNodeRights('mesh nc', configDir);
    const { node } = await nodeStatus(configDir);
    const peer = await findPeer(configDir, name);
    try {
      const stream = await overlayStream(configDir, node.tunnel, peer.address, port);
      pipeline(process.stdin, stream).catch(() => {});
      // The peer ends it, also where more input could come.
      await pipeline(stream, process.stdout);
      process.stdin.destroy();
      return undefined;
    } catch (error) {
      throw new CliError((error as Error).message, EXIT.unavailable);
    }
  });
}
