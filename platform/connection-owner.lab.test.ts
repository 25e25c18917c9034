import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { describePrivileged } from '../test/kits/lab/privileged.ts';
import { linuxConnectionOwner } from './linux/connection-owner.ts';

/** A user that owns nothing here. */
const OTHER_UID = 61_234;

describePrivileged('the owner of a connection', () => {
  it('of another user is that user', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const arriving = once(server, 'connection') as Promise<[Socket]>;
    const { port } = server.address() as AddressInfo;
    const code = `require('node:net').connect(${port}, '127.0.0.1').resume()`;
    const child = spawn(process.execPath, ['-e', code], { uid: OTHER_UID, gid: OTHER_UID, stdio: 'ignore', cwd: '/' });
    onTestFinished(() => void child.kill('SIGKILL'));
    const failed = once(child, 'exit').then(([exit]) => Promise.reject(new Error(`it ended with ${exit}`)));
    const [socket] = await Promise.race([arriving, failed]);
    onTestFinished(() => void socket.destroy());
    expect(await linuxConnectionOwner(socket)).toBe(OTHER_UID);
  });
});
