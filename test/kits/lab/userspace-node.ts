import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { askAgent, localSocketPath } from '../../../client/agent/local-socket.ts';
import { freshDirectory } from '../process/meshd.ts';
import type { LabHost, PingOptions } from './natlab.ts';
import { LabNode } from './natlab-node.ts';

const NOBODY = 65_534;
export const TUNLESS = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none /dev/net && exec "$@"', 'sh'];
/** Neither rights nor a TUN device, and no way to get more. */
const RIGHTLESS = [
  ...[...TUNLESS, 'setpriv'],
  ...[`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs'],
  ...['sh', '-c', 'if [ "$PRELOAD" ]; then export LD_PRELOAD="$PRELOAD"; fi; exec "$@"', 'sh'],
];
const MODE = ['--userspace', '--proxy', '127.0.0.1:0'];
/** Between two echoes of `reaches`. */
const LOOK_MS = 50;

let compiled: string | undefined;

/** Compiled code of all these nodes: their homes are new each time. */
function compileCache(): string {
  compiled ??= path.join(freshDirectory(), 'compiled');
  mkdirSync(compiled, { recursive: true });
  giveToNobody(path.dirname(compiled));
  giveToNobody(compiled);
  return compiled;
}

/** A library that is loaded into root's programs first makes semaphores that are root's: it is loaded once the user is another. */
function asNobody({ LD_PRELOAD, ...env }: Readonly<Record<string, string>>): Record<string, string> {
  return LD_PRELOAD === undefined ? env : { ...env, PRELOAD: LD_PRELOAD };
}

/** Hands a file or directory to the user of these nodes. */
function giveToNobody(name: string): void {
  chownSync(name, NOBODY, NOBODY);
}

/** A node of an ordinary user, by the same commands; it sends echoes by itself, since its host has no interface for them. */
export class UserspaceNode extends LabNode {
  constructor(host: LabHost) {
    super(host, undefined, RIGHTLESS, { NODE_COMPILE_CACHE: compileCache() });
    giveToNobody(path.dirname(this.directory));
  }

  override start(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): void {
    super.start([...MODE, ...args], asNobody(env));
  }

  override up(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<string> {
    return super.up([...MODE, ...args], asNobody(env));
  }

  override async ping(
    address: string,
    { count = 1, intervalMs = 200 }: PingOptions = {},
  ): Promise<{ sent: number; received: number }> {
    const sent: Promise<boolean>[] = [];
    for (let number = 0; number < count; number += 1) {
      if (number > 0) await after(intervalMs);
      sent.push(this.#echo(address));
    }
    return { sent: count, received: (await Promise.all(sent)).filter((isAnswered) => isAnswered).length };
  }

  override async reaches(address: string, seconds = 20): Promise<boolean> {
    const deadline = performance.now() + seconds * 1_000;
    for (;;) {
      if (await this.#echo(address)) return true;
      if (performance.now() > deadline) return false;
      await after(LOOK_MS);
    }
  }

  async #echo(address: string): Promise<boolean> {
    const answer = await askAgent(localSocketPath(this.directory), { ask: 'ping', address, bytes: 0 }).catch(
      () => null,
    );
    return (answer as { ms: number | null } | null)?.ms != null;
  }
}

/** Lets the user of these nodes into a directory of the test. */
export function openToNobody(directory: string): void {
  chmodSync(directory, 0o755);
}
