import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { expect, test } from 'vitest';
import { testCertificate } from '../nats/test-certificate.ts';
import { redirectRelay } from './address.ts';
import { tlsOptionsOf } from './dial.ts';

/** What comes of a connection with a relay that was given as `host` and is reached at the loopback address. */
async function reached(host: string): Promise<string> {
  const server = createServer(testCertificate, (socket) => socket.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const given = { host, port: 6266, secure: true };
  const address = redirectRelay(given, { host: '127.0.0.1', port, secure: false });
  const socket = connect({ ...tlsOptionsOf(address), ca: testCertificate.cert });
  try {
    await once(socket, 'secureConnect');
    return 'trusted';
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  } finally {
    socket.destroy();
    server.close();
  }
}

test('a relay at another place is trusted by the name it was given with, and by no other', async () => {
  // The certificate is for localhost and 127.0.0.1.
  expect(await Promise.all(['localhost', '127.0.0.1', 'relay.example', '127.0.0.2'].map(reached))).toEqual([
    'trusted',
    'trusted',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ]);
});
