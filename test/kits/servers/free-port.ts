import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below those that systems give to whoever asks for any (Linux from 32768 on, others from 49152 on): nobody is given one of
 * these while its server is not up yet, or is away to come back.
 */
const [FIRST, END] = [20_000, 32_768];
/** Files that run at the same time find theirs in parts of their own: what one was given is free to look at until it is used. */
const PARTS = 16;
const PART_SIZE = Math.floor((END - FIRST) / PARTS);
const given = new Set<number>();

/** For who takes no port 0, is to come back where it was, or shall find nobody: found by chance, and seen to be free. */
export async function freePorts(count: number): Promise<number[]> {
  const first = FIRST + PART_SIZE * (Number(process.env['VITEST_POOL_ID'] ?? 0) % PARTS);
  const found: number[] = [];
  while (found.length < count) {
    const left = Array.from({ length: PART_SIZE }, (_, nth) => first + nth).filter((port) => !given.has(port));
    if (left.length === 0) throw new Error(`All ports from ${first} on were given to files of this process.`);
    const port = left[randomInt(left.length)] ?? first;
    given.add(port);
    if (await isFree(port)) found.push(port);
  }
  return found;
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
