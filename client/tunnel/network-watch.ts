import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Log } from '../../core/base/ports.ts';

/** Changes come in bursts: an address, its routes, another address. */
const SETTLE_MS = 30;
/** Before a program that ended is started again. */
const AGAIN_MS = 5_000;

export interface NetworkWatch {
  stop(): void;
}

export interface NetworkWatchOptions {
  readonly log: Log;
  /** Tells whether a line of the program is about a change that may concern this node. */
  readonly isRelevant: (line: string) => boolean;
  readonly onChange: () => void;
}

/**
 * Runs the program that prints every change of the host's addresses and routes as it happens. Where it cannot run, changes are
 * found by looking again and again, as they are without it.
 */
export function watchByProgram(
  [file, ...args]: readonly [string, ...string[]],
  options: NetworkWatchOptions,
): NetworkWatch {
  const { log, isRelevant, onChange } = options;
  let settling: NodeJS.Timeout | undefined;
  let again: NodeJS.Timeout | undefined;
  let stopChild = () => {};

  function start(): void {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'ignore'], env: { PATH: process.env['PATH'] } });
    let isOver = false;
    const over = (reason: string) => {
      if (isOver) return;
      isOver = true;
      log.debug({ reason }, `${file} tells no more of changes of the network`);
      again = setTimeout(start, AGAIN_MS);
    };
    child.on('error', ({ message }) => over(message));
    child.on('exit', (code, signal) => over(`${signal ?? code}`));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (isRelevant(line)) settling ??= setTimeout(changed, SETTLE_MS);
    });
    stopChild = () => {
      isOver = true;
      child.kill('SIGKILL');
    };
  }

  function changed(): void {
    settling = undefined;
    onChange();
  }

  start();
  return {
    stop() {
      clearTimeout(settling);
      clearTimeout(again);
      stopChild();
    },
  };
}

type WatchNetwork = (interfaceName: string, log: Log, onChange: () => void) => NetworkWatch;

/** Returns a way to watch by which all nodes of a process share one program, which runs while someone watches. */
export function sharedWatch(watch: WatchNetwork): WatchNetwork {
  const watchers = new Set<() => void>();
  let running: NetworkWatch | undefined;
  return (interfaceName, log, onChange) => {
    // Each has a function of its own, also where two give the same.
    const tell = () => onChange();
    watchers.add(tell);
    running ??= watch(interfaceName, log, () => {
      for (const each of watchers) each();
    });
    return {
      stop() {
        watchers.delete(tell);
        if (watchers.size > 0) return;
        running?.stop();
        running = undefined;
      },
    };
  };
}

/** Lines of `ip -o monitor address route`: addresses of other interfaces, and default routes. */
export function isRelevantOnLinux(line: string, ownInterface: string): boolean {
  const [, device = ''] = /^(?:Deleted )?\d+: ([^\s:@]+)/.exec(line) ?? /\bdev (\S+)/.exec(line) ?? [];
  if (device === 'lo' || device === ownInterface) return false;
  return /^(?:Deleted )?(?:\d+: |(?:unicast )?default )/.test(line);
}

/** Lines of `route -n monitor`: messages that an address came or went, or a route. */
export function isRelevantOnMac(line: string): boolean {
  return /^RTM_(?:NEWADDR|DELADDR|ADD|DELETE|CHANGE)\b/.test(line);
}
