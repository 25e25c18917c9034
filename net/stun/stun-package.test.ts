import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import stun from 'stun';
import { expect, test } from 'vitest';
import { PLATFORM_CHOICES } from '../../platform/choice.ts';
import { platformOf } from '../../platform/platform.ts';
import { StunListener } from './listener.ts';

test.each(PLATFORM_CHOICES)('the package stun learns its own address from the server, platform %s', async (choice) => {
  const { datagrams } = platformOf(choice);
  const listener = new StunListener({ host: '127.0.0.1', port: 0, clock: { now: () => 0 }, datagrams });
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
});
