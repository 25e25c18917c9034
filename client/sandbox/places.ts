import path from 'node:path';
import { type HostFiles, isWithin } from './root-plan.ts';

/** Never bound, and nothing below them: they are the host's own state. */
const KERNEL = ['/proc', '/sys', '/dev', '/run', '/var/run', '/boot'];
/** Never a working directory, whole. */
const TOP = [
  '/bin',
  '/etc',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/mnt',
  '/media',
  '/opt',
  '/sbin',
  '/srv',
  '/tmp',
  '/usr',
  '/var',
];

/** @returns why a directory is not bound; undefined where it may be */
export function refusedPlace(place: string, homes: readonly string[]): string | undefined {
  if (place === '/') return 'it is the whole file system of this host';
  if (homes.includes(place)) return 'it is a home, with its keys and settings: name a directory in it';
  if (homes.some((home) => isWithin(home, place))) return 'it holds homes, with their keys and settings';
  if (KERNEL.some((one) => isWithin(place, one))) return 'it is the state of this host';
  if (TOP.includes(place)) return 'it belongs to the whole host: name a directory in it';
  return undefined;
}

/** Interpreters in a chain of scripts, at most. */
const MAX_SCRIPTS = 4;
/** Longest first line that the kernel reads. */
const SHEBANG = /^#!\s*(\S+)[ \t]*([^\n]*)/;

/** A host where programs are found. */
export interface ProgramHost extends HostFiles {
  isExecutable(file: string): boolean;
  /** The first bytes of a file; empty where it cannot be read. */
  head(file: string): string;
}

/** @returns the absolute path of a program, as a shell finds it from a directory; undefined where there is none */
export function findProgram(name: string, searched: string, cwd: string, host: ProgramHost): string | undefined {
  const candidates = name.includes('/')
    ? [path.resolve(cwd, name)]
    : searched.split(':').map((one) => path.resolve(cwd, one, name));
  return candidates.find((file) => host.isExecutable(file));
}

/**
 * Returns the paths that a program needs beside the system's own: itself, the links on the way to it, the runtime that it is of (nvm, pyenv,
 * venv), and the same of its interpreter.
 */
export function runtimePaths(
  program: string,
  searched: string,
  cwd: string,
  homes: readonly string[],
  host: ProgramHost,
): string[] {
  const found = new Set<string>();
  let next: string | undefined = program;
  for (let count = 0; next !== undefined && count < MAX_SCRIPTS; count += 1) {
    for (const link of linksTo(next, host)) found.add(runtimeOf(link, homes, host));
    next = interpreterOf(next, searched, cwd, host);
  }
  return [...found];
}

/** The program and what it leads to, link by link. */
function linksTo(program: string, host: ProgramHost): string[] {
  const all = [program];
  for (let last = program; host.kindOf(last) === 'link' && all.length < 16; ) {
    last = path.resolve(path.dirname(last), host.linkTarget(last));
    all.push(last);
  }
  try {
    all.push(host.real(program));
  } catch {
    // It leads nowhere, which the trial inside tells.
  }
  return all;
}

/** The directory of a runtime is above its `bin` or `shims`. */
function runtimeOf(file: string, homes: readonly string[], host: ProgramHost): string {
  const folder = path.dirname(file);
  if (!/^(?:s?bin|shims)$/.test(path.basename(folder))) return file;
  const runtime = path.dirname(folder);
  const isPersonal = /^\.(?:local|config|cache)$/.test(path.basename(runtime));
  if (isPersonal || refusedPlace(runtime, homes) !== undefined) return file;
  return host.kindOf(runtime) === 'directory' ? runtime : file;
}

function interpreterOf(file: string, searched: string, cwd: string, host: ProgramHost): string | undefined {
  const [, interpreter, rest = ''] = SHEBANG.exec(host.head(file)) ?? [];
  if (interpreter === undefined) return undefined;
  if (path.basename(interpreter) !== 'env') return interpreter;
  const name = rest.split(/\s+/).find((word) => word !== '' && !word.startsWith('-') && !word.includes('='));
  return name === undefined ? undefined : findProgram(name, searched, cwd, host);
}
