import { join } from '../../bin/node.ts';

/**
 * The child, a program of an ordinary user: it asks the database, tries what it may not reach, and stays until its time is over. In a
 * program of your own the import is that of the package, as docs/userspace.md shows it.
 */
const { MESH_SERVER: server = '', MESH_TOKEN: token = '' } = process.env;

function say(fields: object): void {
  process.stdout.write(`${JSON.stringify(fields)}\n`);
}

await using net = await join({ server, token });
const { name, expiresAt, peers } = await net.status();
say({ name, expiresAt, uid: process.getuid?.() ?? null, peers: peers.map((peer) => peer.name) });

/** Resolves with the first bytes of a port, or the code of the error. */
function ask(peer: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const connection = net.connect(peer, port);
    connection.once('error', ({ code }: NodeJS.ErrnoException) => resolve(`${code}`));
    connection.once('data', (bytes) => {
      connection.destroy();
      resolve(`${bytes}`);
    });
  });
}

say({ database: await ask('db', 5432) });
say({ shell: await ask('db', 22), other: await ask('web', 5432) });
const open = net.connect('db', 5432).on('error', () => {});
open.resume();
const { why } = await net.ended;
say({ ended: why, isOpen: !open.destroyed });
