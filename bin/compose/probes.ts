import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, isIPv6 } from 'node:net';
import type { HostPort } from '../../net/host-port.ts';
import type { EmbeddedBus } from '../../net/nats/bus.ts';
import { BINDING, encodeStun, TRANSACTION_ID_BYTES, transactionIdOf } from '../../net/stun/message.ts';
import type { ReadyCheck } from '../../rest/readiness.ts';

/** The probes of the listeners beside the API for /readyz: each uses a listener as its clients do, from this machine. */

export type Probe = Omit<ReadyCheck, 'name'>;

const ok = (detail: string): Probe => ({ state: 'ok', detail });
const failed = (detail: string): Probe => ({ state: 'failed', detail });

/** How long one datagram is waited for; the next may come through. */
const DATAGRAM_MS = 500;
const DATAGRAMS = 3;

/** The thread of the broker answers. */
export async function probeBus(bus: Pick<EmbeddedBus, 'isUp' | 'flush'>): Promise<Probe> {
  if (!bus.isUp)
    return failed('is down: nodes cannot negotiate connections until it is back; it is being started again.');
  await bus.flush();
  return ok('its thread answers');
}

/** A connection is taken. */
export async function probeTcp(place: HostPort): Promise<Probe> {
  const socket = connect({ host: reachable(place.host), port: place.port });
  try {
    await once(socket, 'connect');
    return ok('takes connections');
  } catch (error) {
    return failed(`takes no connection (${(error as Error).message}).`);
  } finally {
    socket.destroy();
  }
}

/** A binding request is answered. */
export async function probeStun(place: HostPort): Promise<Probe> {
  const host = reachable(place.host);
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  try {
    const request = encodeStun({
      method: BINDING,
      class: 'request',
      attributes: [],
      transactionId: randomBytes(TRANSACTION_ID_BYTES),
    });
    const answered = once(socket, 'message', { signal: AbortSignal.timeout(DATAGRAM_MS * DATAGRAMS) });
    const repeat = setInterval(() => socket.send(request, place.port, host), DATAGRAM_MS);
    socket.send(request, place.port, host);
    const [answer] = await answered.finally(() => clearInterval(repeat));
    const isAnswer = transactionIdOf(answer as Uint8Array).every((byte, at) => byte === transactionIdOf(request)[at]);
    return isAnswer ? ok('answers binding requests') : failed('answers something else.');
  } catch (error) {
    return failed(`answers no binding request (${(error as Error).message}).`);
  } finally {
    socket.close();
  }
}

/** An address of this machine by which a listener on any of its addresses is reached. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
