import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { CLIENT_FILES, CLIENTS, type Client } from './mcp-entry.ts';

/** Where the files of a person are on this machine. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const here = (): Machine => ({ platform: process.platform, home: homedir(), env: process.env });

/** Returns the file of a person that a client reads in every directory; undefined for a client that is not known to read one. */
export function ownFileOf(client: Client, { platform, home, env }: Machine = here()): string | undefined {
  const settings = {
    darwin: path.join(home, 'Library', 'Application Support'),
    win32: env['APPDATA'] ?? path.join(home, 'AppData', 'Roaming'),
  }[platform as string];
  const within = settings ?? env['XDG_CONFIG_HOME'] ?? path.join(home, '.config');
  switch (client) {
    case 'claude-code':
      return path.join(home, '.claude.json');
    case 'claude-desktop':
      return path.join(within, 'Claude', 'claude_desktop_config.json');
    case 'cursor':
      return path.join(home, '.cursor', 'mcp.json');
    case 'vscode':
      return path.join(within, 'Code', 'User', 'mcp.json');
    case 'windsurf':
      return path.join(home, '.codeium', 'windsurf', 'mcp_config.json');
    case 'generic':
    case 'stdio':
      return undefined;
    default:
      return client satisfies never;
  }
}

/** Returns the clients that have been started on this machine: each keeps its files in a directory of its own. */
export function installedClients(machine: Machine = here()): readonly Client[] {
  return CLIENTS.filter((client) => {
    const file = ownFileOf(client, machine);
    if (file === undefined) return false;
    // Claude Code keeps its file in the home directory itself.
    return existsSync(path.dirname(file) === machine.home ? file : path.dirname(file));
  });
}

/** Returns the client that reads a file of this name, such as `.cursor/mcp.json`. */
export function clientOfFile(name: string): Client | undefined {
  const file = path.resolve(name);
  return CLIENTS.find((client) => isOfProject(client, file) || isOwn(client, file));
}

const isOfProject = (client: Client, file: string) => {
  const end = CLIENT_FILES[client]?.end;
  return end !== undefined && file.replaceAll('\\', '/').endsWith(`/${end}`);
};

function isOwn(client: Client, file: string): boolean {
  const own = ownFileOf(client);
  // Names are resolved where a file is written.
  return own !== undefined && (file === own || (existsSync(own) && file === realpathSync(own)));
}

/** Returns who reads a file that was written for a client, and what to do next. */
export function nextStep(client: Client, file: string): string {
  const reading = CLIENT_FILES[client];
  if (!reading) {
    const found = installedClients();
    const named =
      found.length > 0 ? `Found here: ${found.join(', ')}` : `It knows ${Object.keys(CLIENT_FILES).join(', ')}`;
    return `Next: name this file to your client, or give the same command with --client. ${named}.`;
  }
  const { name, place, afterwards } = reading;
  if (isOfProject(client, file)) return `Next: ${name} reads this file; ${afterwards}.`;
  // The file of a person is read in every directory.
  if (isOwn(client, file))
    return `Next: ${name} reads this file; ${client === 'claude-code' ? 'start it again' : afterwards}.`;
  return `Next: ${name} reads ${place}. Give that as --output, or copy the entry there; then ${afterwards}.`;
}
