import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { openPortSockets } from './sockets.ts';

test.each([0, 65_536, 99_999, -1, 1.5, Number.NaN])(
  'what would go to port %d is lost, and the next goes',
  async (port) => {
    const other = createSocket('udp4');
    other.bind(0, '127.0.0.1');
    await once(other, 'listening');
    const sockets = await openPortSockets(() => {}, silentLog);
    onTestFinished(async () => {
      other.close();
      await sockets.close();
    });
    for (const address of ['127.0.0.1', '::1', '999.1.1.1', 'no address'])
      sockets.send({ address, port }, Uint8Array.of(0));
    const arrived = once(other, 'message');
    sockets.send({ address: '127.0.0.1', port: (other.address() as AddressInfo).port }, Uint8Array.of(7));
    expect([...(await arrived)[0]]).toEqual([7]);
  },
);
