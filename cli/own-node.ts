import { askAgent, localSocketPath } from '../client/agent/local-socket.ts';
import { type NodeStatus, nodeStatusSchema } from '../client/agent/node-status.ts';
import { GraphFile } from '../client/control/graph-file.ts';
import { type NodeConfig, readNodeConfig } from '../client/enrol/node-config.ts';
import type { FullGraph } from '../core/model/graph.ts';
import { nodeDirectory } from './node-directory.ts';
import { isNamed } from './own-verdict.ts';

/** The data of this machine about its own node; each part where it exists and this user may read it. */
export interface OwnNode {
  readonly directory: string;
  readonly config: Pick<NodeConfig, 'id' | 'name' | 'server'> | undefined;
  readonly status: NodeStatus | undefined;
  /** The last one that it was told. */
  readonly graph: FullGraph | undefined;
}

export async function ownNode(configDir: string | undefined): Promise<OwnNode> {
  const directory = nodeDirectory(configDir);
  const config = ifReadable(() => readNodeConfig(directory));
  const graph = config && ifReadable(() => new GraphFile(directory, config.id).read());
  const answer = await askAgent(localSocketPath(directory), { ask: 'status' }).catch(() => undefined);
  const status = nodeStatusSchema.safeParse(answer).data;
  return { directory, config, status, graph };
}

/** Returns true if a name or an id is that of this node. */
export function isOwn({ config, status, graph }: OwnNode, wanted: string): boolean {
  return [config, status?.node, graph?.self].some((each) => each !== undefined && isNamed(each, wanted));
}

function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
