import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { followBacklog } from './watch-standstill.ts';

const WAITING = 100;
/** Each writes and is gone before anybody accepts it. */
const CALLERS = `
const { connect } = require('node:net');
for (let n = 0; n < ${WAITING}; n += 1) {
  const socket = connect(Number(process.argv[1]), '127.0.0.1', () => socket.write('request', () => socket.destroy()));
}`;

test('all that waited in a listening socket while the process stood still is read before it is said to be', async () => {
  const { accepted, allRead } = followBacklog();
  let heard = 0;
  const server = createServer((socket) => {
    accepted();
    socket.on('data', () => {
      heard += 1;
    });
  });
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // This process does nothing meanwhile.
  execFileSync(process.execPath, ['-e', CALLERS, `${(server.address() as AddressInfo).port}`]);
  expect(heard).toBe(0);
  await allRead();
  expect(heard).toBe(WAITING);
});
