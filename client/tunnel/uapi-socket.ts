import { connect } from 'node:net';
import { MeshError } from '../../core/base/errors.ts';
import { type DeviceChange, type DeviceState, encodeSet, errnoOf, GET_REQUEST, parseGet } from './uapi.ts';

/** Where wireguard-go listens. Network namespaces share it, so names of interfaces are unique on a host. */
export function socketPath(interfaceName: string): string {
  return `/var/run/wireguard/${interfaceName}.sock`;
}

/** An answer that takes longer means that the process hangs. */
const ANSWER_TIMEOUT_MS = 10_000;
const EADDRINUSE = 98;
/** macOS and the BSDs. */
const EADDRINUSE_BSD = 48;

export async function getDevice(interfaceName: string): Promise<DeviceState> {
  return parseGet(await ask(interfaceName, GET_REQUEST));
}

export async function setDevice(interfaceName: string, change: DeviceChange): Promise<void> {
  const errno = errnoOf(await ask(interfaceName, encodeSet(change)));
  if (errno === 0) return;
  if (errno === EADDRINUSE || errno === EADDRINUSE_BSD) throw portInUse(change.listenPort ?? 0);
  throw new MeshError(
    'unavailable',
    `wireguard-go did not take the configuration of ${interfaceName}: errno ${errno}.`,
  );
}

export async function isAnswering(interfaceName: string): Promise<boolean> {
  return getDevice(interfaceName).then(
    () => true,
    () => false,
  );
}

export function portInUse(port: number): MeshError {
  const message = `UDP port ${port} is in use by another program. End it, or choose another port with --wg-port.`;
  return new MeshError('conflict', message);
}

function ask(interfaceName: string, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath(interfaceName));
    let answer = '';
    const fail = (reason: string) =>
      reject(new MeshError('unavailable', `wireguard-go does not answer for ${interfaceName}: ${reason}`));
    socket.setEncoding('utf8');
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy(new Error('it took too long')));
    socket.on('data', (text: string) => {
      answer += text;
      if (errnoOf(answer) === undefined) return;
      socket.destroy();
      resolve(answer);
    });
    socket.on('error', ({ message }) => fail(message));
    socket.on('close', () => fail('it closed the connection'));
    socket.write(request);
  });
}
