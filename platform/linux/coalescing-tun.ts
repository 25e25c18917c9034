import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '../../core/base/ports.ts';
import type { Tun } from '../tun.ts';

/** How long a TCP segment waits for the next of its stream, unless it is the last that its sender had. */
const COALESCE_NS = 100_000;
const ATTACH_PROGRAM = path.join(import.meta.dirname, `attach-tun${path.extname(import.meta.filename)}`);
const ATTACH_TIMEOUT_MS = 5_000;

/**
 * A TUN for a wireguard-go that hands on packets one by one: Linux coalesces the segments of a TCP stream before rules and queues
 * see them, as for network cards and for WireGuard in the kernel (generic receive offload). Packets have the 4 bytes of struct
 * tun_pi before them.
 *
 * @returns undefined, with the reason in the log, where this host cannot
 */
export async function openCoalescingTun(interfaceName: string, log: Log): Promise<Tun | undefined> {
  try {
    return await attached(interfaceName);
  } catch (error) {
    log.debug({ err: error }, `${interfaceName} does not coalesce TCP segments`);
    return undefined;
  }
}

async function attached(interfaceName: string): Promise<Tun> {
  const tun = await open('/dev/net/tun', 'r+');
  try {
    await attach(interfaceName, tun.fd);
    await writeFile(`/sys/class/net/${interfaceName}/gro_flush_timeout`, `${COALESCE_NS}`);
    return tun;
  } catch (error) {
    await tun.close();
    throw error;
  }
}

/** By a program of its own: koffi would take 7 MB of the agent for as long as it runs. */
async function attach(interfaceName: string, fd: number): Promise<void> {
  const child = spawn(process.execPath, [...process.execArgv, ATTACH_PROGRAM, interfaceName], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    stdio: ['ignore', 'ignore', 'pipe', fd],
    timeout: ATTACH_TIMEOUT_MS,
  });
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code] = await once(child, 'close');
  if (code === 0) return;
  // Of an error that Node prints, what it says.
  const [said] = /^\w*Error.*$/m.exec(errors) ?? [errors.trim()];
  throw new Error(said || `The program that makes it ended with ${code}.`);
}
