import { homedir } from 'node:os';
import path from 'node:path';
import type { Isolation } from '../../platform/isolation.ts';
import { NodeRefusal } from '../agent/launch.ts';
import { TUNNEL_MTU } from '../tunnel/mtu.ts';
import { forbiddenBy } from './forbidden.ts';
import { homesOf, hostFiles, namespaceFacts } from './host-files.ts';
import { findProgram, refusedPlace, runtimePaths } from './places.ts';
import { isWithin, rootPlan, SANDBOX_HOME } from './root-plan.ts';
import { PreparationError, SandboxProcess } from './sandbox-process.ts';
import type { SandboxUser } from './user.ts';

export interface SandboxRequest {
  readonly user: SandboxUser;
  readonly command: readonly string[];
  /** Directory that the command may write to. */
  readonly workdir?: string;
  /** Paths that it may read. */
  readonly binds: readonly string[];
  readonly searched: string;
  readonly cwd: string;
}

/** Runs without a command: until it is ended. */
const WAITING = ['/bin/sleep', 'infinity'];
const NOT_USED = 'The token was not used.';

/**
 * Makes the namespaces of a sandbox and tries all that can fail in them.
 *
 * @returns it, and the command with the path of its program
 * @throws NodeRefusal that says what this host forbids, or what the user cannot read, write or start
 */
export async function prepareSandbox(
  request: SandboxRequest,
  isolation: Isolation,
): Promise<{ readonly sandbox: SandboxProcess; readonly command: readonly string[] }> {
  const { user, searched } = request;
  const isRoot = process.getuid?.() === 0;
  const homes = homesOf();
  const bind = placesOf(request.binds, '--bind', homes);
  const [workdir] = placesOf(request.workdir === undefined ? [] : [request.workdir], '--workdir', homes);
  const cwd = realOr(request.cwd);
  const isPresentBound = refusedPlace(cwd, homes) === undefined;
  const [name = '', ...args] = request.command.length > 0 ? request.command : WAITING;
  const program = findProgram(name, searched, cwd, hostFiles);
  if (program === undefined) throw noProgram(name, user);
  const files = filesIn(args, cwd);
  const bound = [
    ...runtimePaths(program, searched, cwd, homes, hostFiles),
    ...(isPresentBound ? [cwd] : []),
    ...files,
    ...bind,
  ];
  const steps = rootPlan(
    { user, bound: outermost(bound), ...(workdir !== undefined && { workdir }), hidden: hiddenPaths() },
    hostFiles,
  );
  const start = workdir ?? (isPresentBound ? cwd : SANDBOX_HOME);
  try {
    const sandbox = await SandboxProcess.prepare(
      {
        ...{ user, isRoot, steps, mtu: TUNNEL_MTU, program, cwd: start },
        isInteractive: request.command.length > 0,
        read: [...bind, ...files],
        written: workdir === undefined ? [] : [workdir],
      },
      isolation,
    );
    return { sandbox, command: [program, ...args] };
  } catch (error) {
    if (!(error instanceof PreparationError)) throw error;
    throw refusalOf(error, isRoot, searched, name, user);
  }
}

/** Directories with the identities of nodes and accounts. */
function hiddenPaths(): string[] {
  const named = process.env['MESH_CONFIG_DIR'];
  return [
    path.join(homedir(), '.mesh'),
    '/etc/mesh',
    '/var/lib/mesh',
    ...(named === undefined ? [] : [path.resolve(named)]),
  ];
}

function placesOf(given: readonly string[], option: string, homes: readonly string[]): string[] {
  return given.map((one) => {
    const place = realOr(path.resolve(one));
    const kind = hostFiles.kindOf(place);
    if (kind === undefined) throw new NodeRefusal('wrong-setting', `${option} ${one} does not exist.`);
    if (option === '--workdir' && kind !== 'directory')
      throw new NodeRefusal('wrong-setting', `${option} ${one} is no directory.`);
    const reason = refusedPlace(place, homes);
    if (reason !== undefined) throw new NodeRefusal('wrong-setting', `${option} ${one} is refused: ${reason}.`);
    return place;
  });
}

/** Files that the command line names: its scripts and inputs. */
function filesIn(args: readonly string[], cwd: string): string[] {
  const named = args.filter((word) => word !== '' && !word.startsWith('-')).map((word) => path.resolve(cwd, word));
  return named.filter((file) => hostFiles.kindOf(file) === 'file' && !/^\/(?:dev|proc|sys|run)\//.test(file));
}

/** Each once, and none that another one holds. */
function outermost(files: readonly string[]): string[] {
  const all = [...new Set(files)];
  return all.filter((file) => !all.some((other) => other !== file && isWithin(file, other)));
}

function realOr(file: string): string {
  try {
    return hostFiles.real(file);
  } catch {
    return file;
  }
}

const noProgram = (name: string, { uid }: SandboxUser) =>
  new NodeRefusal(
    'no-program',
    `Cannot start ${name}: user ${uid}, as whom it would run, finds no such program. Give a path that this user can read. ${NOT_USED}`,
  );

function refusalOf(
  { step, message }: PreparationError,
  isRoot: boolean,
  searched: string,
  name: string,
  user: SandboxUser,
): NodeRefusal {
  if (step === 'user') return userRefusal(message, name, user);
  if (step === 'tun') {
    const remedy = isRoot
      ? 'In a container, start it with --device /dev/net/tun; else load the kernel module: modprobe tun'
      : 'Have it opened to users (chmod 666 /dev/net/tun, as most systems have it), or run the sandbox with sudo';
    return new NodeRefusal(
      'no-tunnel',
      `This machine cannot run a sandbox: /dev/net/tun: ${message}. ${remedy}. ${NOT_USED}`,
    );
  }
  const hasPrograms = ['unshare', 'setpriv'].every((one) => findProgram(one, searched, '/', hostFiles) !== undefined);
  // Without capabilities in the new namespaces, the first thing that needs one fails.
  const isForbidden = step === '' || /EPERM|ENOSYS/.test(message);
  const why = isForbidden
    ? forbiddenBy(namespaceFacts(isRoot, hasPrograms), message || 'nothing')
    : `${step}: ${message}`;
  return new NodeRefusal('no-namespace', `This machine cannot run a sandbox: ${why}. ${NOT_USED}`);
}

/** Returns the refusal that the first line of the trial inside calls for. */
function userRefusal(found: string, name: string, user: SandboxUser): NodeRefusal {
  const [, what, file] = /^(exec|cwd|read|write) (.*)/.exec(found) ?? [];
  const who = `user ${user.uid}, as whom the command would run,`;
  if (what === 'exec') return noProgram(name, user);
  if (what === undefined)
    return new NodeRefusal('no-namespace', `This machine cannot run a sandbox: ${found}. ${NOT_USED}`);
  const verbs: Record<string, string> = { cwd: 'enter', read: 'read', write: 'write to' };
  return new NodeRefusal('wrong-setting', `Cannot start ${name}: ${who} cannot ${verbs[what]} ${file}. ${NOT_USED}`);
}
