import { once } from 'node:events';
import { rmSync } from 'node:fs';
import {
  type AddressInfo,
  connect,
  createServer,
  type ListenOptions,
  type NetConnectOpts,
  type Server,
} from 'node:net';
import path from 'node:path';
import { freshDirectory } from '../process/meshd.ts';
import type { LabHost } from './natlab.ts';

/** A port of this machine that leads to one of a host of a lab. */
export interface Gate {
  readonly port: number;
  close(): void;
}

/**
 * Through a socket in the file system, which namespaces share. This file, run in the namespace of the host as
 * `node natlab-gate.ts <socket> <port>`, leads from there to the port, and the test leads a port of its own there.
 */
export async function gateTo(host: LabHost, port: number, target = '127.0.0.1'): Promise<Gate> {
  const folder = freshDirectory();
  const socket = path.join(folder, 'gate.sock');
  const inside = host.spawn(process.execPath, [import.meta.filename, socket, `${port}`, target]);
  if (inside.stdout) await once(inside.stdout, 'data');
  const gate = await openGate({ host: '127.0.0.1', port: 0 }, { path: socket });
  const close = () => {
    gate.server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { port: gate.port, close };
}

/** @returns where it listens */
async function openGate(from: ListenOptions, to: NetConnectOpts): Promise<{ port: number; server: Server }> {
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
  const [socket = '', port, host = '127.0.0.1'] = process.argv.slice(2);
  await openGate({ path: socket }, { host, port: Number(port) });
  process.stdout.write('open\n');
}
