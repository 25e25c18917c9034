import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** A broker in its own process, with what the kernel says it used. */
export interface Broker {
  readonly name: 'mesh' | Other;
  readonly port: number;
  /** Seconds of CPU, user and system, all threads. */
  cpu(): number;
  /** Resident bytes. */
  rss(): number;
  stop(): void;
}

/** What the broker is compared with; `plain` and `copies` are itself without the operating system, without its shared buffer. */
export const OTHERS = ['nats-server', 'plain', 'copies'] as const;
export type Other = (typeof OTHERS)[number];

/** Clock ticks a second in /proc. */
const TICKS = 100;
const PAGE_BYTES = 4_096;

export async function startMesh(name: 'mesh' | 'plain' | 'copies' = 'mesh'): Promise<Broker> {
  const child = spawn(process.execPath, [new URL('./serve.ts', import.meta.url).pathname, name], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, MESH_PLATFORM: name === 'plain' ? 'plain' : 'auto' },
  });
  const [line] = await once(child.stdout, 'data');
  return broker(name, child, Number(String(line)));
}

export function startOther(name: Other): Promise<Broker> {
  return name === 'nats-server' ? startNatsServer() : startMesh(name);
}

async function startNatsServer(): Promise<Broker> {
  const child = spawn('nats-server', ['-a', '127.0.0.1', '-p', '-1'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  while (!log.includes('Server is ready')) log += String((await once(child.stderr, 'data'))[0]);
  child.stderr.resume();
  return broker('nats-server', child, Number(/client connections on 127\.0\.0\.1:(\d+)/.exec(log)?.[1]));
}

function broker(name: Broker['name'], child: ChildProcess, port: number): Broker {
  const proc = `/proc/${child.pid}`;
  return {
    name,
    port,
    cpu() {
      const fields = readFileSync(`${proc}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) / TICKS;
    },
    rss: () => Number(readFileSync(`${proc}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES,
    stop: () => child.kill(),
  };
}
