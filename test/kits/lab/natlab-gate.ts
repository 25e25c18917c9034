import { once } from 'node:events';
import {
  type AddressInfo,
  connect,
  createServer,
  type ListenOptions,
  type NetConnectOpts,
  type Server,
} from 'node:net';

/**
 * A lab's plane is called through a socket in the file system, which namespaces share. This file, run in the plane's
 * namespace as `node natlab-gate.ts <socket> <port>`, leads from there to a port; the test leads a port of its own there.
 *
 * @returns where it listens
 */
export async function openGate(from: ListenOptions, to: NetConnectOpts): Promise<{ port: number; server: Server }> {
  const server = createServer((client) => {
    const inner = connect(to);
    client.pipe(inner).pipe(client);
    client.on('error', () => inner.destroy());
    inner.on('error', () => client.destroy());
  });
  await once(server.listen(from), 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

if (import.meta.main) {
  const [path = '', port] = process.argv.slice(2);
  await openGate({ path }, { host: '127.0.0.1', port: Number(port) });
  process.stdout.write('open\n');
}
