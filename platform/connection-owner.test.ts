import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { linuxConnectionOwner } from './linux/connection-owner.ts';
import { plainConnectionOwner } from './plain/connection-owner.ts';

const isLinux = process.platform === 'linux';
const own = process.getuid?.();

/** A listener, and what it accepts next. */
async function listening(host: string) {
  const server = createServer({ allowHalfOpen: true }).listen(0, host);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = async () => {
    const [socket] = (await once(server, 'connection')) as [Socket];
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    return socket;
  };
  return { port, accepted };
}

test.runIf(isLinux).each([
  ['127.0.0.1', '127.0.0.1'],
  ['::', '127.0.0.1'],
  ['::', '::ffff:127.0.0.1'],
  ['::1', '::1'],
  ['127.0.0.1', '127.0.0.1'],
])('the owner of a connection to %s by %s is the user of this process', async (host, address) => {
  const { port, accepted } = await listening(host);
  const arriving = accepted();
  const client = connect(port, address);
  onTestFinished(() => void client.destroy());
  expect(await linuxConnectionOwner(await arriving)).toBe(own);
});

test.runIf(isLinux)(
  'a connection whose other end is closed has no owner, although the kernel says that it is of root',
  async () => {
    const { port, accepted } = await listening('127.0.0.1');
    const arriving = accepted();
    const client = connect(port, '127.0.0.1');
    const socket = await arriving;
    const { localAddress, localPort, remoteAddress, remotePort } = socket;
    const ends = { localAddress, localPort, remoteAddress, remotePort };
    expect(await linuxConnectionOwner(ends)).toBe(own);
    client.end();
    socket.resume();
    await once(socket, 'end');
    expect(await linuxConnectionOwner(ends)).toBe(undefined);
  },
);

test.runIf(isLinux)('ends that no socket has, and addresses of elsewhere, have no owner', async () => {
  const ends = { localAddress: '127.0.0.1', localPort: 1, remoteAddress: '127.0.0.1', remotePort: 2 };
  expect(await linuxConnectionOwner(ends)).toBe(undefined);
  expect(await linuxConnectionOwner({ ...ends, remoteAddress: 'fe80::1' })).toBe(undefined);
  expect(await linuxConnectionOwner({})).toBe(undefined);
});

test('where the platform does not tell, nobody is known as the owner', async () => {
  const { port, accepted } = await listening('127.0.0.1');
  const arriving = accepted();
  const client = connect(port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  expect(await plainConnectionOwner(await arriving)).toBe(undefined);
});
