import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Place } from './joining.ts';

/** A request to a process that does not read it now. */
export interface UnreadRequest {
  readonly url: string;
  readonly place: Place;
  readonly method: string;
  readonly path: string;
  readonly body: object;
}

/** Sends a request without a wait for its answer. @returns its connection */
export async function sendUnread({ url, place, method, path, body }: UnreadRequest): Promise<Socket> {
  const { host, hostname, port } = new URL(url);
  const text = JSON.stringify(body);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  await once(socket, 'connect');
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${place.token}`,
    `X-Workspace-Id: ${place.workspace}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.write(`${head.join('\r\n')}\r\n\r\n${text}`, () => resolve());
  await promise;
  return socket;
}

/** Sends a request and closes the connection. */
export async function giveUp(request: UnreadRequest): Promise<void> {
  (await sendUnread(request)).destroy();
}
