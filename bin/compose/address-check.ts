import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Log } from '../../core/base/ports.ts';
import { parseHostPort } from '../../net/host-port.ts';
import { BINDING, decodeStun, encodeStun } from '../../net/stun/message.ts';
import type { Config } from './config.ts';
import { type ConfiguredAddress, configuredAddresses } from './configured-addresses.ts';

/** An address that says nothing for so long is taken for dead. */
const ANSWER_MS = 3_000;
/** Datagrams get lost. */
const STUN_TRIES = 3;

/** The effect on nodes that cannot reach an address (docs/node.md#files-and-ports). */
const EFFECT: Readonly<Record<ConfiguredAddress['variable'], string>> = {
  MESH_SIGNALING_URL: 'nodes cannot negotiate connections',
  MESH_RELAY_ADVERTISE_URL: 'nodes that cannot connect directly cannot communicate',
  MESH_STUN_URL: 'only relay paths and a lower rate of direct connections',
  'app.relays': 'nodes use another relay, which may be farther away',
  'app.stun': 'nodes ask the other STUN servers alone',
};

/**
 * Tries once each address that nodes are given, and says what a dead one costs. It sees from this machine, which a
 * router may treat otherwise than nodes: so it warns, and nothing waits for it.
 */
export function checkConfiguredAddresses(config: Pick<Config, 'env' | 'app'>, log: Log): { stop(): void } {
  const ending = new AbortController();
  const { signal } = ending;
  const check = async () => {
    // Addresses are checked one by one, because name lookups take threads that others need.
    for (const { variable, value } of configuredAddresses(config)) {
      const place = parseHostPort(value.replace(/^\w+:\/\//, ''));
      if (place === undefined) continue;
      const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
      const failure = await (variable === 'MESH_STUN_URL' || variable === 'app.stun' ? stunFailure : tcpFailure)(
        place,
        limit,
      );
      if (signal.aborted) return;
      if (failure !== undefined) {
        log.warn(
          { variable, address: value, reason: failure },
          `nothing answers there, as seen from this machine: ${EFFECT[variable]}`,
        );
      }
    }
  };
  check().catch((error: unknown) => log.error({ error: String(error) }, 'the addresses given to nodes were not tried'));
  return { stop: () => ending.abort() };
}

type Endpoint = { readonly host: string; readonly port: number };

async function tcpFailure(place: Endpoint, signal: AbortSignal): Promise<string | undefined> {
  const socket = connect(place);
  socket.on('error', () => {});
  try {
    await once(socket, 'connect', { signal });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  } finally {
    socket.destroy();
  }
}

async function stunFailure({ host, port }: Endpoint, signal: AbortSignal): Promise<string | undefined> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  socket.on('error', () => {});
  const transactionId = Uint8Array.from(randomBytes(12));
  const request = encodeStun({ class: 'request', method: BINDING, transactionId, attributes: [] });
  const ask = () => socket.send(request, port, host, (error) => error && socket.emit('error', error));
  const again = setInterval(ask, ANSWER_MS / STUN_TRIES).unref();
  try {
    ask();
    for (;;) {
      const [datagram] = (await once(socket, 'message', { signal })) as [Buffer];
      const answer = decodeStun(datagram);
      if (answer && Buffer.compare(answer.transactionId, transactionId) === 0) return undefined;
    }
  } catch (error) {
    return reasonOf(error);
  } finally {
    clearInterval(again);
    socket.close();
  }
}

function reasonOf(error: unknown): string {
  const { name, code, message } = error as NodeJS.ErrnoException;
  return name === 'AbortError' || name === 'TimeoutError' ? `no answer in ${ANSWER_MS / 1_000} s` : (code ?? message);
}
