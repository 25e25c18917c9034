import { interfacesOf, nodesOf } from '../client/agent/node-traces.ts';
import { defaultInterface } from '../client/tunnel/platform.ts';
import { findService } from './service/local-manager.ts';

/** Returns the interface of the node of a directory: the one it has now, else that of its service, else the last one, else the usual one. */
export function localInterface(directory: string): string {
  const [running] = nodesOf(directory);
  return (
    running?.interfaceName ??
    findService(directory)?.interfaceName ??
    interfacesOf(directory)[0] ??
    defaultInterface(process.platform)
  );
}
