import { isMainThread } from 'node:worker_threads';
import type { Koffi } from './libc.ts';

/** fcntl(2) of Linux. */
const F_GETFL = 3;
const F_SETFL = 4;
const F_SETOWN = 8;
const O_ASYNC = 0o20_000;

type Fcntl = (fd: number, command: number, value: number) => number;

const listeners = new Set<() => void>();
let isListening = false;

/**
 * Tells that datagrams arrived at a socket, and leaves them there: signal-driven input, fcntl(2). Node reads each datagram for
 * its own event, without the length of coalesced ones, and into 64 KiB that the garbage collector has to find again.
 */
export class ArrivalSignal {
  readonly #fd: number;
  readonly #fcntl: Fcntl;
  readonly #flags: number;
  readonly #onArrival: () => void;

  private constructor(fd: number, fcntl: Fcntl, onArrival: () => void) {
    this.#fd = fd;
    this.#fcntl = fcntl;
    this.#flags = fcntl(fd, F_GETFL, 0);
    this.#onArrival = onArrival;
  }

  /**
   * In the main thread alone, since signals come there.
   *
   * @param onArrival also called when another socket got something, and when nothing is left to read
   */
  static open(koffi: Koffi, fd: number, onArrival: () => void): ArrivalSignal | undefined {
    if (!isMainThread) return undefined;
    const fcntl: Fcntl = koffi.load(null).func('int fcntl(int, int, int)');
    const signal = new ArrivalSignal(fd, fcntl, onArrival);
    // Stays: a signal that comes late would end a process that does not listen.
    if (!isListening) {
      process.on('SIGIO', () => {
        for (const listener of listeners) listener();
      });
    }
    isListening = true;
    fcntl(fd, F_SETOWN, process.pid);
    return signal;
  }

  /** From now on each datagram that arrives is told; what arrived before is not. */
  on(): void {
    listeners.add(this.#onArrival);
    this.#fcntl(this.#fd, F_SETFL, this.#flags | O_ASYNC);
  }

  off(): void {
    this.#fcntl(this.#fd, F_SETFL, this.#flags);
    listeners.delete(this.#onArrival);
  }
}
