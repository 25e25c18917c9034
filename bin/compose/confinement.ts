import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import path from 'node:path';
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

const PASSED_VARIABLES = /^(?:PATH|LANG|LC_[A-Z]+|TERM)$/;

/**
 * Returns the environment of a sandboxed command: an allow list, so that no credential of the caller is in it.
 *
 * @param named what the caller passes besides
 */
export function sandboxEnvironment(caller: Environment, named: readonly string[], own: Environment): NodeJS.ProcessEnv {
  const passed = Object.entries(caller).filter(([name]) => PASSED_VARIABLES.test(name) || named.includes(name));
  return { ...Object.fromEntries(passed), ...own };
}

/** The surroundings of a command when it starts. */
export interface SandboxHome {
  readonly home: string;
  readonly cwd: string;
  /** Made for this sandbox, and removed with it. Closed to all other users: other sandboxes have the same. */
  readonly temporary?: string;
}

/** Makes a home where the user has none that they can use. */
export async function sandboxHomeFor(
  user: SandboxUser,
  { home, cwd }: { readonly home?: string; readonly cwd?: string },
  temporary: string,
): Promise<SandboxHome> {
  if (home !== undefined) return { home, cwd: cwd ?? home };
  mkdirSync(temporary, { mode: 0o700 });
  mkdirSync(path.join(temporary, 'home'), { mode: 0o700 });
  await chown(path.join(temporary, 'home'), user.uid, user.gid);
  return { home: temporary, cwd: cwd ?? temporary, temporary };
}

/**
 * First process of the sandbox's PID namespace: it takes in orphans, and all others end with it. It gives the sandbox terminals
 * and shared memory of its own; puts the temporary home, where there is one, in the place of a directory that is closed to
 * others; and hides what a shell says of a command that a signal ended, and ends with it alone. A session keyring of its own takes keyctl(1): where
 * that is not there, the command has the caller's.
 */
const INIT = `
set -e
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts /dev/pts
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs /dev/shm
[ -z "$1" ] || mount -o bind "$1/home" "$1"
cd -- "$2"
unset OLDPWD
shift 2
while [ "$1" != -- ]; do mount -o bind /dev/null "$1"; shift; done
shift
set +e
trap : INT
exec 3>&2 2>/dev/null
if keyctl show >/dev/null; then
  keyctl session - sh -c 'exec "$@" 2>&3 3>&-' sh "$@"
else
  "$@" 2>&3 3>&-
fi
exit $?`;

/**
 * Returns the command line that runs a command in a network namespace, as a user without any capability, with namespaces of
 * its own for processes, mounts and IPC. All of it ends with this process. `net_raw` stays in the bounding set since the file of ping(8) may
 * ask for it; no-new-privs gives it to nobody.
 */
export function confined(
  namespace: string,
  { uid, gid }: SandboxUser,
  { temporary = '', cwd }: Omit<SandboxHome, 'home'>,
  command: readonly string[],
): readonly [string, ...string[]] {
  const isolated = [
    'unshare',
    '--pid',
    '--ipc',
    '--fork',
    '--kill-child',
    '--mount-proc',
    '--',
    'sh',
    '-c',
    INIT,
    'sh',
  ];
  const place = [temporary, cwd, ...consolesOf(uid), '--'];
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const capabilities = ['--bounding-set=-all,+net_raw', '--inh-caps=-all', '--ambient-caps=-all'];
  const asUser = ['setpriv', ...identity, ...capabilities, '--no-new-privs', '--securebits=+noroot', '--'];
  const inNamespace = ['ip', 'netns', 'exec', namespace];
  return ['setpriv', '--pdeathsig=KILL', '--', ...inNamespace, ...isolated, ...place, ...asUser, ...command];
}

/** The terminals outside /dev/pts that a user who is logged in there owns. */
function consolesOf(uid: number): string[] {
  const consoles = readdirSync('/dev').filter((name) => /^(?:tty.+|console|hvc\d+)$/.test(name));
  return consoles
    .map((name) => `/dev/${name}`)
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.uid === uid);
}

/** Says which of two directories the user can enter and list, and whether the program is found from the first of them. */
const PROBE_SCRIPT = `
usable() { case $1 in /*) cd -- "$1" 2>/dev/null && [ -r . ] && [ -x . ];; *) false;; esac; }
program() { [ -f "$1" ] && [ -x "$1" ]; }
found() {
  case $1 in */*) program "$1"; return;; esac
  set -f; IFS=:
  for directory in $PATH; do program "\${directory:-.}/$1" && return; done
  return 1
}
cd /
usable "$3" && home=home || home=
usable "$2" && cwd=cwd || { cwd=; [ -z "$home" ] || cd -- "$3"; }
found "$1" && program=program || program=
echo "tried $home $cwd $program"`;

/**
 * Tries the confinement before anything is spent on it.
 *
 * @returns where the command runs: in the present directory, else at home, as far as the user can use them
 * @throws NodeRefusal where this host cannot confine a command, or the user cannot start it
 */
export async function tryConfinement(
  namespace: string,
  user: SandboxUser,
  program = 'true',
): Promise<{ readonly home?: string; readonly cwd?: string }> {
  const home = user.uid === NOBODY ? '' : await homeOf(user);
  const look = ['sh', '-c', PROBE_SCRIPT, 'sh', program, process.cwd(), home];
  const [file, ...args] = confined(namespace, user, { cwd: '/' }, look);
  const { stdout, stderr } = await runProgram(file, args);
  const [tried, ...found] = stdout.trim().split(' ');
  if (tried !== 'tried') {
    throw new NodeRefusal(
      'no-namespace',
      `This machine cannot run a sandbox: ${stderr.trim() || 'its processes cannot be isolated'}. The token was not used. Run it as root with all capabilities; a container needs --privileged.`,
    );
  }
  if (!found.includes('program')) {
    throw new NodeRefusal(
      'no-program',
      `Cannot start ${program}: user ${user.uid}, as whom it would run, finds no such program. Give a path that this user can read.`,
    );
  }
  return { ...(found.includes('home') && { home }), ...(found.includes('cwd') && { cwd: process.cwd() }) };
}

async function homeOf({ uid }: SandboxUser): Promise<string> {
  const { stdout } = await runProgram('getent', ['passwd', `${uid}`]);
  return stdout.trim().split(':')[5] ?? '';
}

/**
 * Starts a confined command in a session of its own. A terminal is not handed to it: it gets pipes in its place, and can neither
 * push input into the terminal nor read from it later.
 */
export function startConfined(line: readonly [string, ...string[]], env: NodeJS.ProcessEnv): ChildProcess {
  const stdio: StdioOptions = [0, 1, 2].map((fd) => (isatty(fd) ? 'pipe' : 'inherit'));
  const [file, ...args] = line;
  const child = spawn(file, args, { env, cwd: '/', stdio, detached: true });
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
