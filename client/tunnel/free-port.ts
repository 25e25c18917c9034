import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { portInUse } from './uapi-socket.ts';

/** WireGuard itself says nothing when it cannot have the port on the way up. */
export async function requireFreePort(port: number): Promise<void> {
  if (port === 0) return;
  const socket = createSocket('udp4');
  try {
    socket.bind({ port, exclusive: true });
    await once(socket, 'listening');
  } catch {
    throw portInUse(port);
  } finally {
    socket.close();
  }
}
