import path from 'node:path';
import { nodeConfigFile, readNodeConfig } from '../client/enrol/node-config.ts';
import { localServer, nodeDirectory } from './node-directory.ts';
import { HINTS, userspaceText } from './node-hints.ts';
import { requireRoot } from './root.ts';

/** Where the daemon of root logs. */
const ROOT_LOG_DIRECTORY = '/var/log/mesh';

/** @throws CliError for a user who is neither root nor the owner of this node in userspace mode */
export function requireNodeRights(command: string, configDir: string | undefined): void {
  const directory = nodeDirectory(configDir);
  const tunnel = tunnelOf(directory);
  if (tunnel === 'userspace') return;
  const start = `A node ${userspaceText({ directory })}`;
  requireRoot(
    command,
    {
      unreadable: '',
      interface: start,
      none: [
        `This user has no node: ${nodeConfigFile(directory)} does not exist.`,
        `Join first, with a join token in a file: ${HINTS.join({ directory, server: localServer() })}`,
        start,
      ].join('\n'),
    }[tunnel],
  );
}

/** Returns the directory that `mesh up --daemon` logs to. */
export function logDirectoryOf(given: string | undefined, configDir: string | undefined): string {
  return given ?? (process.getuid?.() === 0 ? ROOT_LOG_DIRECTORY : path.join(nodeDirectory(configDir), 'log'));
}

/** Says where that is unless the user names one. */
export const LOG_DIRECTORY_TEXT = `(${ROOT_LOG_DIRECTORY}; for other users than root, log in the configuration directory)`;

/** Returns how the node of a directory makes its tunnel, as far as this user can read that. */
function tunnelOf(directory: string): 'userspace' | 'interface' | 'none' | 'unreadable' {
  try {
    const config = readNodeConfig(directory);
    return config === undefined ? 'none' : (config.tunnel ?? 'interface');
  } catch {
    return 'unreadable';
  }
}
