import { spawnSync } from 'node:child_process';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { chownSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import type { Isolation } from '../../platform/isolation.ts';
import { loadIsolation } from '../../platform/platform.ts';
import { buildRoot, sealRoot } from './build-root.ts';
import {
  type Beginning,
  FIRST_STREAM,
  type FromInside,
  INSIDE_INTERFACE,
  NAMES_ADDRESS,
  type Preparation,
  type ToInside,
} from './messages.ts';
import { SANDBOX_HOST } from './root-plan.ts';
import { type Processor, systemCallFilter } from './system-call-filter.ts';

/**
 * The first process of a sandbox's namespaces. It makes network and file system from inside, hands descriptors out, waits until the
 * overlay is up, gives up all rights and becomes the command's shell. Nothing of it stays.
 */

/** Keeps what a shell says of a command that a signal ended to itself, takes in orphans, and ends with the command. */
const INIT = `
trap : INT QUIT
exec 3>&2 2>/dev/null
cd -- "$1" || cd /
unset OLDPWD
shift
"$@" 2>&3 3>&-
exit $?`;

/** Names what the user cannot do in there, a line each: exec, cwd, read and write, with the path. */
const PROBE = `
cd /
[ -f "$1" ] && [ -x "$1" ] || printf 'exec %s\\n' "$1"
[ -d "$2" ] && [ -x "$2" ] || printf 'cwd %s\\n' "$2"
shift 2
while [ "$1" != -- ]; do [ -r "$1" ] || printf 'read %s\\n' "$1"; shift; done
shift
for file; do [ -w "$file" ] || printf 'write %s\\n' "$file"; done`;

const send = (message: FromInside, handle?: Server | UdpSocket): Promise<void> =>
  new Promise((resolve, reject) => {
    const done = (error: Error | null) => (error ? reject(error) : resolve());
    process.send?.(message, handle, {}, done);
  });

function isolationHere(): Promise<Isolation> {
  let reason = '';
  return loadIsolation((why) => {
    reason = why;
  }).then((isolation) => {
    if (!isolation) throw new Error(reason);
    return isolation;
  });
}

async function handOutSockets(): Promise<void> {
  const tcp = (host: string, port: number) =>
    new Promise<Server>((resolve, reject) => {
      const server = createServer().once('error', reject);
      server.listen({ host, port }, () => resolve(server));
    });
  const udp = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    udp.once('error', reject);
    udp.bind({ address: NAMES_ADDRESS, port: 53 }, resolve);
  });
  await send({ socket: 'door' }, await tcp('127.0.0.1', 0));
  await send({ socket: 'egress' }, await tcp('127.0.0.1', 0));
  await send({ socket: 'names-tcp' }, await tcp(NAMES_ADDRESS, 53));
  await send({ socket: 'names-udp' }, udp);
}

/** Makes network, sockets and files one after the other, and says the word of each step before it tries it. */
async function prepare(options: Preparation, step: (what: string) => void): Promise<void> {
  const { user, isRoot, steps, hasTerminal, mtu, program, cwd, read, written } = options;
  step('load');
  const isolation = await isolationHere();
  const pid = Number(readlinkSync('/proc/self'));
  step('network');
  isolation.makeMountsPrivate();
  isolation.setHostName(SANDBOX_HOST);
  const routes = isolation.openRoutes();
  isolation.bringUp(routes, 'lo', 0);
  const group = isRoot ? '0 2147483647' : `${user.gid} ${user.gid}`;
  // Unprivileged ping: the command has no capability to open raw sockets.
  writeFileSync('/proc/sys/net/ipv4/ping_group_range', group);
  step('tun');
  const tun = isolation.openTun(INSIDE_INTERFACE);
  isolation.bringUp(routes, INSIDE_INTERFACE, mtu);
  step('sockets');
  await handOutSockets();
  step('files');
  buildRoot(steps, user, isolation);
  const terminal = hasTerminal ? isolation.openTerminal('/dev/pts') : undefined;
  // The first one of its own instance.
  if (terminal) chownSync('/dev/pts/0', user.uid, user.gid);
  step('user');
  const as = isRoot ? { uid: user.uid, gid: user.gid } : {};
  const probe = ['-c', PROBE, 'sh', program, cwd, ...read, '--', ...written];
  const { error, stdout, stderr } = spawnSync('/bin/sh', probe, { ...as, cwd: '/', env: {}, encoding: 'utf8' });
  if (error || stderr !== '') throw new Error(error?.message ?? stderr.trim());
  if (stdout !== '') throw new Error(stdout.trim());
  begin = (beginning) => become(beginning, options, isolation, terminal?.slave);
  const prepared = { pid, tun, routes, ...(terminal && { terminal: terminal.master }) };
  await send({ prepared });
}

let begin: (beginning: Beginning) => void = () => {};

/** Never returns. */
function become(
  { command, env, resolvConf }: Beginning,
  { user, isRoot, cwd }: Preparation,
  isolation: Isolation,
  terminal: number | undefined,
): void {
  sealRoot(resolvConf, isolation);
  isolation.beginSession(terminal);
  for (const fd of [0, 1, 2]) {
    // Standard error may be a file while the rest is the terminal.
    const isGiven = terminal === undefined || (fd === 2 && isStreamGiven);
    isolation.duplicate(isGiven ? FIRST_STREAM + fd : terminal, fd);
  }
  isolation.dropBoundingSet();
  if (isRoot) {
    process.setgroups?.([]);
    process.setgid?.(user.gid);
    process.setuid?.(user.uid);
  }
  // Another user is another end of the parent's: prctl(2).
  isolation.endWithParent();
  isolation.confine(systemCallFilter(process.arch as Processor));
  process.execve?.('/bin/sh', ['sh', '-c', INIT, 'sh', cwd, ...command], env);
}

/** Standard error of the command is given beside its terminal. */
const isStreamGiven = process.argv[2] === 'stderr';

process.on('message', (message: ToInside) => {
  let what = 'begin';
  const step = (next: string) => {
    what = next;
  };
  const done = 'begin' in message ? Promise.try(begin, message.begin) : prepare(message.prepare, step);
  done.catch(async (error: unknown) => {
    await send({ failed: { what, detail: (error as Error).message } }).catch(() => {});
    process.exit(1);
  });
});
process.on('disconnect', () => process.exit(1));
