import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below those that systems give to whoever asks for any (Linux from 32768 on, others from 49152 on): nobody is given one of
 * these while its server is not up yet, or is away to come back.
 */
const [FIRST, END] = [20_000, 32_768];

/** For who takes no port 0, is to come back where it was, or shall find nobody: found by chance, and seen to be free. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) found.add(port);
  }
  return [...found];
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
