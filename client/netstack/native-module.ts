import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { endOfWhole } from './frames.ts';
import type { StackModule } from './module.ts';

/** Bytes on their way to the program at most, before datagrams are lost. */
const MAX_WAITING_BYTES = 16 * 1_048_576;

/**
 * Starts native/netstack as a program of this platform, which takes and gives the same frames by pipes.
 *
 * @param receive takes frames, which are its own
 * @throws Error where the program does not start
 */
export async function startProgram(file: string, receive: (frames: Uint8Array) => void): Promise<StackModule> {
  const { stdin, stdout, child } = launch(file);
  let rest: Uint8Array = new Uint8Array();
  stdout.on('data', (chunk: Uint8Array) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = endOfWhole(bytes);
    rest = bytes.subarray(end);
    if (end > 0) receive(bytes.subarray(0, end));
  });
  // Its end says it.
  stdin.on('error', () => {});
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await once(child, 'spawn');
  return {
    send: (frames) => void stdin.write(frames),
    isBehind: () => stdin.writableLength > MAX_WAITING_BYTES,
    async end() {
      stdin.end();
      await ended;
    },
    ended,
  };
}

function launch(file: string) {
  const child = spawn(file, [], { stdio: ['pipe', 'pipe', 'ignore'], env: {} });
  return { child, stdin: child.stdin, stdout: child.stdout };
}
