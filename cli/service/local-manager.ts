import { launchd } from './launchd.ts';
import type { ServiceManager } from './service.ts';
import { systemd } from './systemd.ts';
import { userSystemd } from './user-systemd.ts';

/** @param isUsers the manager of this user, which only systemd has */
export function localManager(isUsers = false): ServiceManager {
  if (isUsers) return userSystemd();
  return process.platform === 'darwin' ? launchd() : systemd();
}

export interface LocalService {
  readonly manager: ServiceManager;
  readonly interfaceName: string;
  readonly isUsers: boolean;
}

/** Returns the service that starts the node of a directory: of this user, else of the machine. */
export function findService(directory: string): LocalService | undefined {
  const kinds = process.platform === 'darwin' ? [false] : [true, false];
  for (const isUsers of kinds) {
    const manager = localManager(isUsers);
    const interfaceName = manager.find(directory);
    if (interfaceName !== undefined) return { manager, interfaceName, isUsers };
  }
  return undefined;
}
