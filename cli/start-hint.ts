import { defaultInterface } from '../client/tunnel/platform.ts';
import { HINTS } from './node-hints.ts';
import { localManager } from './service/local-manager.ts';

/** How the node of a directory is started here: as a service where it is one. @param acceptable see `HintFacts` */
export function startHint(directory: string, acceptable?: string): string {
  return serviceStart(directory) ?? HINTS.up({ directory, acceptable });
}

/** Undefined where the node of a directory is no service. */
export function serviceStart(directory: string): string | undefined {
  const found = localManager().find(directory);
  if (found === undefined) return undefined;
  return HINTS.startService(found === defaultInterface(process.platform) ? {} : { interfaceName: found });
}
