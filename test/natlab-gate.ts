import { connect, createServer } from 'node:net';

/**
 * Runs inside a lab's namespace and leads from a socket in the file system, which namespaces share, to a port in there:
 * `node natlab-gate.ts <socket> <port>`. So a test calls a plane that it has no network to.
 */
const [socket = '', port = ''] = process.argv.slice(2);
const server = createServer((client) => {
  const inner = connect(Number(port), '127.0.0.1');
  client.pipe(inner).pipe(client);
  for (const [end, other] of [
    [client, inner],
    [inner, client],
  ] as const) {
    end.on('error', () => other.destroy());
  }
});
server.listen(socket, () => process.stdout.write('open\n'));
