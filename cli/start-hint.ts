import { defaultInterface } from '../client/tunnel/platform.ts';
import { HINTS, upText } from './node-hints.ts';
import { findService } from './service/local-manager.ts';

/** How the node of a directory is started here: as a service where it is one. @param acceptable see `HintFacts` */
export function startHint(directory: string, acceptable?: string): string {
  return serviceStart(directory) ?? upText({ directory, acceptable });
}

/** Undefined where the node of a directory is no service. */
export function serviceStart(directory: string): string | undefined {
  const found = findService(directory);
  if (found === undefined) return undefined;
  const { interfaceName, isUsers } = found;
  const isUsual = interfaceName === defaultInterface(process.platform);
  return HINTS.startService(isUsual ? { isUsers } : { interfaceName, isUsers });
}
