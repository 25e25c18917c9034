import { interfacesOf, nodesOf } from '../client/agent/node-traces.ts';
import { defaultInterface } from '../client/tunnel/platform.ts';
import { localManager } from './service/local-manager.ts';

/** Returns the interface of the node of a directory: the one it has now, else that of its service, else the last one, else the usual one. */
export function localInterface(directory: string): string {
  const [running] = nodesOf(directory);
  return (
    running?.interfaceName ??
    localManager().find(directory) ??
    interfacesOf(directory)[0] ??
    defaultInterface(process.platform)
  );
}
