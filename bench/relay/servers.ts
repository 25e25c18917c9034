import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A server in its own process, with what the kernel says it used. */
export interface Measured {
  readonly port: number;
  /** Seconds of CPU, user and system, all threads. */
  cpu(): number;
  /** Resident bytes. */
  rss(): number;
  stop(): Promise<void>;
}

/** Clock ticks a second and bytes of a page in /proc. */
const TICKS = 100;
const PAGE_BYTES = 4_096;

/** A script of ours that prints its port on the first line. */
export async function startScript(script: URL, ...options: readonly string[]): Promise<Measured> {
  const child = spawn(process.execPath, [script.pathname, ...options], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  return measured(child, Number(String(line)));
}

/** Debian's coturn with one relay thread, without authentication, on the loopback. */
export async function startCoturn(...options: readonly string[]): Promise<Measured> {
  const directory = mkdtempSync(join(tmpdir(), 'coturn-'));
  const port = await freePort();
  const child = spawn(
    'turnserver',
    [
      ...['-n', '--no-auth', '--no-cli', '--no-tls', '--no-dtls', '--allow-loopback-peers', '--no-stdout-log'],
      ...['--listening-ip=127.0.0.1', '--relay-ip=127.0.0.1', `--listening-port=${port}`, '--relay-threads=1'],
      ...['--log-file', join(directory, 'log'), '--simple-log', `--userdb=${join(directory, 'db')}`],
      ...[`--pidfile=${join(directory, 'pid')}`, ...options],
    ],
    { stdio: 'ignore' },
  );
  child.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  await untilListening(port);
  return measured(child, port);
}

function measured(child: ChildProcess, port: number): Measured {
  const proc = `/proc/${child.pid}`;
  return {
    port,
    cpu() {
      const fields = readFileSync(`${proc}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) / TICKS;
    },
    rss: () => Number(readFileSync(`${proc}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const socket = connect(port, '127.0.0.1');
    const isUp = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('turnserver does not answer: apt-get install coturn');
}
