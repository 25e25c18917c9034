import { interfacesOf, nodesOf } from '../client/agent/node-traces.ts';
import { defaultInterface } from '../client/tunnel/platform.ts';
import { managerHere } from './service/here.ts';

/** Returns the interface of the node of a directory: the one it has now, else that of its service, else the last one, else the usual one. */
export function interfaceHere(directory: string): string {
  const [running] = nodesOf(directory);
  return (
    running?.interfaceName ??
    managerHere().find(directory) ??
    interfacesOf(directory)[0] ??
    defaultInterface(process.platform)
  );
}
