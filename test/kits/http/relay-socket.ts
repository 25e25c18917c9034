import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { RelayClient, type RelayClientEvent } from '../../../net/relay/client.ts';
import { decodeCredential } from '../../../net/relay/credential.ts';
import type { KeyPair } from '../../../net/seal/x25519.ts';

type EventOf<T extends RelayClientEvent['type']> = Extract<RelayClientEvent, { type: T }>;

/** A node's session with a relay over a real socket, with TLS where a CA is given; events wait until they are asked for. */
export async function relaySession(port: number, pair: KeyPair, credential: string, ca?: string) {
  const client = new RelayClient(pair, { credential: decodeCredential(credential) ?? new Uint8Array() });
  const socket = ca ? connectTls({ host: '127.0.0.1', port, ca }) : connect({ host: '127.0.0.1', port });
  await once(socket, ca ? 'secureConnect' : 'connect');
  const events: RelayClientEvent[] = [];
  let wake = () => {};
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    for (const event of client.receive(chunk, Date.now())) {
      if (event.type === 'send') socket.write(event.bytes);
      else events.push(event.type === 'forward' ? { ...event, packets: Uint8Array.from(event.packets) } : event);
    }
    wake();
  });
  socket.write(client.start(Date.now()));
  return {
    client,
    send: (bytes: Uint8Array | undefined) => socket.write(bytes ?? new Uint8Array()),
    /** The next event of a type; earlier ones of other types are passed over. */
    async next<T extends RelayClientEvent['type']>(type: T): Promise<EventOf<T>> {
      for (;;) {
        const event = events.shift();
        if (event?.type === type) return event as EventOf<T>;
        if (event === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
    [Symbol.dispose]: () => {
      socket.destroy();
    },
  };
}
