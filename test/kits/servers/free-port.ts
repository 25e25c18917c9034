import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** For who takes no port 0, or is to come back where it was: asked of the system and given back. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  return Promise.all(
    servers.map(async (server) => {
      const { port } = server.address() as AddressInfo;
      server.close();
      await once(server, 'close');
      return port;
    }),
  );
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
