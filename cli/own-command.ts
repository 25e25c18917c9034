import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** The launcher of `mesh`, for programs that start it; an installed package is compiled into another directory. */
export function ownLauncher(name: 'mesh' | 'meshd' = 'mesh'): string {
  const beside = path.resolve(import.meta.dirname, '../bin', name);
  return existsSync(beside) ? beside : path.resolve(import.meta.dirname, '../../bin', name);
}

/** The first words of hints; a test holds them against the commands that there are. */
export const VERBS = [
  'access',
  'admin',
  'agents',
  'allow',
  'apply',
  'approve',
  'audit',
  'bugreport',
  'completion',
  'compliance',
  'deny',
  'diff',
  'down',
  'evidence',
  'export',
  'forward',
  'history',
  'import',
  'init',
  'invite',
  'leave',
  'log',
  'login',
  'logout',
  'logs',
  'mcp',
  'nc',
  'netcheck',
  'networks',
  'only',
  'otp',
  'passwd',
  'peers',
  'ping',
  'plan',
  'policies',
  'policy',
  'reject',
  'remove-access',
  'rename',
  'renumber',
  'rotate-key',
  'sandbox',
  'serve',
  'service',
  'settings',
  'snapshots',
  'status',
  'tokens',
  'undo',
  'up',
  'users',
  'webhook',
  'why',
  'workflows',
  'workspaces',
] as const;

const KNOWN: ReadonlySet<string> = new Set([...VERBS, '--help']);
const OF_MESHD: ReadonlySet<string> = new Set([
  'backup',
  'compact',
  'doctor',
  'end-approval',
  'reset-password',
  'restore',
  '--standalone',
]);
/** The commands that need no server and workspace, or take them from the node on this machine. */
const TARGETLESS: ReadonlySet<string> = new Set([
  'completion',
  'down',
  'init',
  'login',
  'netcheck',
  'ping',
  'rotate-key',
  'sandbox',
  'serve',
  'service',
  'status',
  'up',
  '--help',
]);

/** The server and workspace named on this command line, which commands in hints have to name too. */
let hintTarget: { readonly server?: string; readonly workspace?: string } = {};

/** Has hints carry the server and the workspace that the command line names. */
export function setHintTarget(target: { readonly server?: string; readonly workspace?: string }): void {
  hintTarget = target;
}

/**
 * A text for people with each `mesh <command>` in it as this shell can run it, for the same server and workspace, and each
 * `meshd <command>`.
 */
export function runnable(text: string): string {
  return text.replace(COMMAND, (hint, name: 'mesh' | 'meshd', verb: string, at: number) => {
    if (!(name === 'mesh' ? KNOWN : OF_MESHD).has(verb)) return hint;
    const [options = ''] = text.slice(at + hint.length).split(BEHIND, 1);
    return `${name === 'meshd' || TARGETLESS.has(verb) ? '' : settingsFor(options)}${ownCommand(name)} ${verb}`;
  });
}

const COMMAND = /(?<![\w/.-])(meshd?) ([a-z-]+)/g;
/** Where what is said of a command ends. */
const BEHIND = /\n|(?<![\w/.-])meshd? /;

/** A command that names its server is not told of another one. */
function settingsFor(options: string): string {
  const server = / --server /.test(options) ? undefined : hintTarget.server;
  return Object.entries({ MESH_SERVER: server, MESH_WORKSPACE: hintTarget.workspace })
    .map(([name, value]) => (value === undefined ? '' : `${name}=${quoted(value)} `))
    .join('');
}

/** `mesh` or `meshd` where PATH leads to this installation, else the path of its launcher. */
function ownCommand(name: 'mesh' | 'meshd'): string {
  const launcher = ownLauncher(name);
  if (onPath(launcher) !== undefined) return name;
  // Short where one stands in this software, as the first commands of the README do.
  const [here, short] = [workingDirectory(), path.join('bin', name)];
  return quoted(here !== undefined && path.relative(here, launcher) === short ? short : launcher);
}

/** Undefined where it was deleted. */
function workingDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

/** This command by the name that stays over upgrades: where PATH leads to it, else its launcher. */
export function installedLauncher(): string {
  const launcher = ownLauncher();
  return onPath(launcher) ?? launcher;
}

function onPath(launcher: string): string | undefined {
  const own = real(launcher);
  const places = (process.env['PATH'] ?? '').split(path.delimiter).filter((place) => path.isAbsolute(place));
  return places.map((place) => path.join(place, path.basename(launcher))).find((name) => real(name) === own);
}

function real(name: string): string | undefined {
  try {
    return realpathSync(name);
  } catch {
    return undefined;
  }
}

/** As one word of a shell. */
export function quoted(text: string): string {
  return /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
