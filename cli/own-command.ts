import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** The launcher of `mesh`, for programs that start it; an installed package is compiled into another directory. */
export function ownLauncher(): string {
  const beside = path.resolve(import.meta.dirname, '../bin/mesh');
  return existsSync(beside) ? beside : path.resolve(import.meta.dirname, '../../bin/mesh');
}

/** The first words of hints; a test holds them against the commands that there are. */
export const VERBS = [
  'admin',
  'agents',
  'apply',
  'approve',
  'completion',
  'compliance',
  'diff',
  'down',
  'export',
  'history',
  'import',
  'init',
  'invite',
  'login',
  'logout',
  'mcp',
  'netcheck',
  'networks',
  'passwd',
  'peers',
  'ping',
  'plan',
  'policies',
  'policy',
  'reject',
  'rotate-key',
  'sandbox',
  'snapshots',
  'status',
  'tokens',
  'up',
  'why',
  'workflows',
  'workspaces',
] as const;

const KNOWN: ReadonlySet<string> = new Set([...VERBS, '--help']);

/** A text for people with each `mesh <command>` in it as this shell can run it. */
export function called(text: string): string {
  return text.replace(/(?<![\w/.-])mesh ([a-z-]+)/g, (hint, verb: string) =>
    KNOWN.has(verb) ? `${ownCommand()} ${verb}` : hint,
  );
}

/** `mesh` where PATH leads to this installation, else the path of its launcher. */
function ownCommand(): string {
  const launcher = ownLauncher();
  const own = real(launcher);
  const places = (process.env['PATH'] ?? '').split(path.delimiter).filter((place) => place !== '');
  if (places.some((place) => real(path.join(place, 'mesh')) === own)) return 'mesh';
  const below = path.relative(process.cwd(), launcher);
  return quoted(below.startsWith('..') ? launcher : below);
}

function real(name: string): string | undefined {
  try {
    return realpathSync(name);
  } catch {
    return undefined;
  }
}

/** As one word of a shell. */
function quoted(text: string): string {
  return /^[\w./@+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
