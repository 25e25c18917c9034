import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { encodeXorAddress } from '../../net/stun/address.ts';
import {
  ATTRIBUTES,
  BINDING,
  decodeStun,
  encodeStun,
  type StunMessage,
  TRANSACTION_ID_BYTES,
} from '../../net/stun/message.ts';
import { parseIp } from '../../platform/ip.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';

const HOST = '127.0.0.1';
const TRIES = 4;
const TRY_MS = 150;

/**
 * Tells whether STUN to WireGuard's port reaches the agent and its answer leaves from there: asked from this host, so that it says
 * nothing about the path to anywhere else.
 */
export function isPortShared(wireguardPort: number): Promise<boolean> {
  const socket = createSocket('udp4');
  const transactionId = randomBytes(TRANSACTION_ID_BYTES);
  const request = encodeStun({ class: 'request', method: BINDING, transactionId, attributes: [] });
  return new Promise<boolean>((resolve) => {
    let tries = 0;
    const ask = () => {
      if (tries++ < TRIES) socket.send(request, wireguardPort, HOST);
      else end(false);
    };
    const timer = setInterval(ask, TRY_MS);
    const end = (isShared: boolean) => {
      clearInterval(timer);
      socket.close();
      resolve(isShared);
    };
    socket.on('error', () => {});
    socket.on('message', (bytes, from) => {
      const answer = decodeStun(bytes);
      if (answer?.class !== 'success' || Buffer.compare(answer.transactionId, transactionId) !== 0) return;
      end(from.port === wireguardPort);
    });
    socket.bind(0, HOST, ask);
  });
}

/** The agent's side of it: an answer for a plain request of this host, undefined for anything else. */
export function selfTestAnswer({ class: kind, method, transactionId, attributes }: StunMessage, from: Endpoint) {
  const ip = parseIp(from.address);
  if (kind !== 'request' || method !== BINDING || attributes.length > 0 || from.address !== HOST || !ip)
    return undefined;
  const value = encodeXorAddress(ip, from.port, transactionId);
  return encodeStun({
    class: 'success',
    method: BINDING,
    transactionId,
    attributes: [{ type: ATTRIBUTES.xorMappedAddress, value }],
  });
}
