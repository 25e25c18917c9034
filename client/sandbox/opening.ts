import type { Server, Socket } from 'node:net';

/**
 * A socket that listens inside a sandbox and is served from outside: the server that holds it, or its descriptor. Whatever connects to it
 * is a program of the sandbox.
 */
export type Listener = Server | { readonly fd: number };

/** An opening of a sandbox while it is served. */
export interface Opening {
  close(): Promise<void>;
}

/** Most connections of one opening at once. More are closed as they come. */
export const MAX_CONNECTIONS = 128;

/** Has a server accept what connects to a listener. @throws Error where it cannot be listened at */
export async function open(server: Server, listener: Listener): Promise<Opening> {
  const sockets = new Set<Socket>();
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listener, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', () => {});
  return {
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
