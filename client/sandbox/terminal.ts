import { ReadStream } from 'node:tty';
import type { Isolation } from '../../platform/isolation.ts';

/**
 * Connects the terminal of this process with the one of a sandbox, byte by byte: the command has a terminal of its own, and nothing that it
 * does to it reaches this one.
 *
 * @param master end of the sandbox's terminal
 * @returns resolves once all that was shown has been passed on
 */
export function passTerminal(master: number, isolation: Isolation): { readonly ended: Promise<void>; release(): void } {
  const inner = new ReadStream(master);
  const { stdin, stdout } = process;
  const resize = () => isolation.resizeTerminal(master, stdout.columns ?? 80, stdout.rows ?? 24);
  resize();
  stdout.on('resize', resize);
  stdin.setRawMode(true);
  // The inner terminal has begun new lines already.
  isolation.makeOutputRaw(stdin.fd);
  const type = (keys: Buffer) => inner.write(keys);
  stdin.on('data', type);
  inner.on('data', (bytes) => {
    if (!stdout.write(bytes)) {
      inner.pause();
      stdout.once('drain', () => inner.resume());
    }
  });
  const ended = new Promise<void>((resolve) => {
    // Reading fails once nobody has the other end.
    inner.on('error', () => resolve());
    inner.on('close', () => resolve());
  });
  return {
    ended,
    release() {
      stdout.off('resize', resize);
      stdin.off('data', type);
      stdin.setRawMode(false);
      stdin.pause();
      inner.destroy();
    },
  };
}
