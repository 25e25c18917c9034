import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { type Dispatcher, Agent as UndiciAgent } from 'undici';

/** Begins a connection that emits `connect` or `error`. */
type Connect = (host: string, port: number) => Duplex;

const PORT_OF_SCHEME: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Returns an agent of node:http whose connections lead to peers. */
export function overlayAgent(connect: Connect): Agent {
  return new (class extends Agent {
    override createConnection({ host, port }: { host?: string | null; port?: string | number | null }): Duplex {
      return connect(bare(host ?? ''), Number(port ?? PORT_OF_SCHEME['http:']));
    }
  })();
}

/** Returns a dispatcher of undici whose connections lead to peers. */
export function overlayDispatcher(connect: Connect): Dispatcher {
  return new UndiciAgent({
    connect: ({ hostname, port, protocol, servername }, callback) => {
      const host = bare(hostname);
      const stream = connect(host, Number(port || PORT_OF_SCHEME[protocol]));
      const isTls = protocol === 'https:';
      const socket = isTls
        ? connectTls({ socket: stream, servername: servername || host, ALPNProtocols: ['http/1.1'] })
        : stream;
      const fail = (error: Error) => callback(error, null);
      socket.once('error', fail);
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        socket.off('error', fail);
        // undici asks of it no more than a stream has.
        callback(null, socket as Socket);
      });
    },
  });
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
