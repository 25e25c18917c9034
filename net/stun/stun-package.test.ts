import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import stun from 'stun';
import { expect, test } from 'vitest';
import { StunListener } from './listener.ts';

test.each(['off', 'auto'] as const)(
  'the package stun learns its own address from the server, batched %s',
  async (batched) => {
    const listener = new StunListener({ host: '127.0.0.1', port: 0, clock: { now: () => 0 }, batched });
    const { port } = await listener.start();
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    try {
      const answer = await stun.request(`127.0.0.1:${port}`, { socket });
      expect(answer.getXorAddress()).toMatchObject({ address: '127.0.0.1', port: socket.address().port });
    } finally {
      socket.close();
      await listener.stop();
    }
  },
);
