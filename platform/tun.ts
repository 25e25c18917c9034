import type { Log } from '../core/base/ports.ts';
import { CHOSEN } from './choice.ts';

/** An open TUN interface, which lasts until its descriptor is closed everywhere. */
export interface Tun {
  readonly fd: number;
  close(): Promise<void>;
}

/**
 * A TUN interface on Linux that coalesces the segments of a TCP stream.
 *
 * @returns undefined, with the reason in the log, where this host cannot
 */
export async function openCoalescingTun(interfaceName: string, log: Log): Promise<Tun | undefined> {
  if (CHOSEN === 'plain') return undefined;
  return (await import('./linux/coalescing-tun.ts')).openCoalescingTun(interfaceName, log);
}
