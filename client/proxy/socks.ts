import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { formatIp } from '../../platform/ip.ts';
import { isPassword, type ProxyCredential } from './credential.ts';
import { type Destinations, ProxyRefusal, type RefusalCode } from './destinations.ts';
import { readExactly } from './read-exactly.ts';

/** RFC 1928 and RFC 1929. */
export const SOCKS_VERSION = 5;
const PASSWORD_VERSION = 1;
const METHOD = { none: 0, password: 2, refused: 0xff } as const;
const CONNECT = 1;
const ADDRESS = { ipv4: 1, name: 3, ipv6: 4 } as const;
const REPLY = { done: 0, failed: 1, notAllowed: 2, unreachable: 4, refused: 5, noCommand: 7, noAddress: 8 } as const;

const REPLY_OF: Readonly<Record<RefusalCode, number>> = {
  down: REPLY.failed,
  outside: REPLY.notAllowed,
  policy: REPLY.notAllowed,
  refused: REPLY.refused,
  unreachable: REPLY.unreachable,
};

/**
 * Serves a SOCKS connection; names are resolved here.
 *
 * @param credential undefined: no password is asked for
 * @param onRequest called once the request is whole
 */
export async function serveSocks(
  socket: Socket,
  destinations: Destinations,
  credential: ProxyCredential | undefined,
  onRequest: () => void,
): Promise<void> {
  if (!(await authenticate(socket, credential))) {
    socket.end();
    return;
  }
  const target = await readRequest(socket);
  onRequest();
  if (typeof target === 'number') {
    socket.end(replyOf(target));
    return;
  }
  try {
    const stream = await destinations.open(target.host, target.port);
    socket.write(replyOf(REPLY.done));
    pipeline(socket, stream, socket, () => {});
    socket.resume();
  } catch (error) {
    if (!(error instanceof ProxyRefusal)) throw error;
    socket.end(replyOf(REPLY_OF[error.code]));
  }
}

async function authenticate(socket: Socket, credential: ProxyCredential | undefined): Promise<boolean> {
  const [, count = 0] = await readExactly(socket, 2);
  const methods = await readExactly(socket, count);
  const method = credential ? METHOD.password : METHOD.none;
  if (!methods.includes(method)) {
    socket.write(Uint8Array.of(SOCKS_VERSION, METHOD.refused));
    return false;
  }
  socket.write(Uint8Array.of(SOCKS_VERSION, method));
  if (!credential) return true;
  const [version, nameLength = 0] = await readExactly(socket, 2);
  await readExactly(socket, nameLength);
  const [passwordLength = 0] = await readExactly(socket, 1);
  const password = (await readExactly(socket, passwordLength)).toString();
  const isRight = version === PASSWORD_VERSION && isPassword(password, credential);
  socket.write(Uint8Array.of(PASSWORD_VERSION, isRight ? 0 : 1));
  return isRight;
}

/** @returns the code of the reply where it is none that is carried out */
async function readRequest(socket: Socket): Promise<{ host: string; port: number } | number> {
  const [version, command, , kind] = await readExactly(socket, 4);
  if (version !== SOCKS_VERSION) return REPLY.failed;
  const host = await readHost(socket, kind);
  if (host === undefined) return REPLY.noAddress;
  const port = (await readExactly(socket, 2)).readUInt16BE();
  if (command !== CONNECT) return REPLY.noCommand;
  return { host, port };
}

async function readHost(socket: Socket, kind: number | undefined): Promise<string | undefined> {
  switch (kind) {
    case ADDRESS.ipv4:
      return formatIp(await readExactly(socket, 4));
    case ADDRESS.ipv6:
      return formatIp(await readExactly(socket, 16));
    case ADDRESS.name: {
      const [length = 0] = await readExactly(socket, 1);
      return (await readExactly(socket, length)).toString();
    }
    default:
      return undefined;
  }
}

/** The address in it is of no use to anyone. */
function replyOf(code: number): Uint8Array {
  return Uint8Array.of(SOCKS_VERSION, code, 0, ADDRESS.ipv4, 0, 0, 0, 0, 0, 0);
}
