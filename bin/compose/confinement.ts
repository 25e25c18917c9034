import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { isatty } from 'node:tty';
import { NodeRefusal } from '../../client/agent/launch.ts';
import { runProgram } from '../../client/run-program.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The user that a sandboxed command runs as. */
export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

/** `nobody` and its group: they own no file. */
const NOBODY = 65_534;

/** Returns the user who called sudo, else `nobody`: never root, and never root's group. */
export function sandboxUser({ SUDO_UID, SUDO_GID }: Environment): SandboxUser {
  const uid = idIn(SUDO_UID);
  return uid === undefined ? { uid: NOBODY, gid: NOBODY } : { uid, gid: idIn(SUDO_GID) ?? NOBODY };
}

function idIn(text = ''): number | undefined {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  // 2^32 - 1 means "leave it as it is" to the system calls.
  return id > 0 && id < 0xffff_ffff ? id : undefined;
}

/**
 * Closes what the caller had open besides standard input, output and error: a program that is started would inherit it. Node
 * opens nothing that outlives exec(2); what does is the caller's.
 */
export function closeInherited(): void {
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd > 2 && outlivesExec(fd)) closeSync(fd);
  }
}

const O_CLOEXEC = 0o2_000_000;

function outlivesExec(fd: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return flags !== '' && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    // The listing itself was open, and is closed.
    return false;
  }
}

const PASSED = /^(?:PATH|LANG|LC_[A-Z]+|TERM)$/;

/**
 * Returns the environment of a sandboxed command: an allow list, so that no credential of the caller is in it.
 *
 * @param named what the caller passes besides
 */
export function sandboxEnvironment(caller: Environment, named: readonly string[], own: Environment): NodeJS.ProcessEnv {
  const passed = Object.entries(caller).filter(([name]) => PASSED.test(name) || named.includes(name));
  return { ...Object.fromEntries(passed), ...own };
}

/** What a command finds when it starts. */
export interface SandboxPlace {
  readonly home: string;
  readonly cwd: string;
  /** Made for this sandbox, and removed with it. */
  readonly temporary?: string;
}

/** The part that a command of this user can use: its home, the present directory, else one that is made for it. */
export async function placeFor(user: SandboxUser, canUseDirectory: boolean): Promise<SandboxPlace> {
  const home = user.uid === NOBODY ? undefined : await homeOf(user);
  if (home !== undefined) return { home, cwd: canUseDirectory ? process.cwd() : home };
  const temporary = mkdtempSync('/tmp/mesh-sandbox-');
  await chown(temporary, user.uid, user.gid);
  return { home: temporary, cwd: canUseDirectory ? process.cwd() : temporary, temporary };
}

async function homeOf({ uid }: SandboxUser): Promise<string | undefined> {
  const { stdout } = await runProgram('getent', ['passwd', `${uid}`]);
  const home = stdout.trim().split(':')[5];
  return home?.startsWith('/') ? home : undefined;
}

/**
 * First process of the sandbox's PID namespace: it takes in orphans, and all others end with it. It hides what a shell says
 * of a command that a signal ended.
 */
const INIT = 'exec 3>&2 2>/dev/null; "$@" 2>&3 3>&-; exit $?';

/**
 * Returns the command line that runs a command in a network namespace, as a user without any capability, with a PID namespace
 * and a /proc of its own. All of it ends with this process. `net_raw` stays in the bounding set since the file of ping(8) may
 * ask for it; no-new-privs gives it to nobody.
 */
export function confined(
  namespace: string,
  { uid, gid }: SandboxUser,
  command: readonly string[],
): readonly [string, ...string[]] {
  const isolated = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', '--', 'sh', '-c', INIT, 'sh'];
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const capabilities = ['--bounding-set=-all,+net_raw', '--inh-caps=-all', '--ambient-caps=-all'];
  const asUser = ['setpriv', ...identity, ...capabilities, '--no-new-privs', '--securebits=+noroot', '--'];
  const inNamespace = ['ip', 'netns', 'exec', namespace];
  return ['setpriv', '--pdeathsig=KILL', '--', ...inNamespace, ...isolated, ...asUser, ...command];
}

const LOOK =
  'command -v -- "$1" >/dev/null || { echo missing; exit; }; [ -r . ] && [ -x . ] && echo here || echo elsewhere';

/**
 * Tries the confinement before anything is spent on it.
 *
 * @returns whether the command can use the present directory
 * @throws NodeRefusal where this host cannot confine a command, or the user cannot start it
 */
export async function tryConfinement(namespace: string, user: SandboxUser, program = 'true'): Promise<boolean> {
  const [file, ...args] = confined(namespace, user, ['sh', '-c', LOOK, 'sh', program]);
  const { stdout, stderr } = await runProgram(file, args);
  const answer = stdout.trim();
  if (answer === 'missing') {
    throw new NodeRefusal(
      'no-program',
      `Cannot start ${program}: user ${user.uid}, as whom it would run, finds no such program. Give a path that this user can read.`,
    );
  }
  if (answer !== 'here' && answer !== 'elsewhere') {
    throw new NodeRefusal(
      'no-namespace',
      `This machine cannot run a sandbox: ${stderr.trim() || 'its processes cannot be isolated'}. The token was not used. Run it as root with all capabilities; a container needs --privileged.`,
    );
  }
  return answer === 'here';
}

/**
 * Starts a confined command in a session of its own. A terminal is not handed to it: it gets pipes in its place, and can neither
 * push input into the terminal nor read from it later.
 */
export function startConfined(
  line: readonly [string, ...string[]],
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): ChildProcess {
  const stdio: StdioOptions = [0, 1, 2].map((fd) => (isatty(fd) ? 'pipe' : 'inherit'));
  const [file, ...args] = line;
  const child = spawn(file, args, { ...options, stdio, detached: true });
  child.stdout?.pipe(process.stdout, { end: false });
  child.stderr?.pipe(process.stderr, { end: false });
  if (child.stdin) {
    const { stdin } = child;
    // A command that does not read ends before its input does.
    stdin.on('error', () => {});
    process.stdin.pipe(stdin);
    child.once('exit', () => process.stdin.destroy());
  }
  return child;
}
