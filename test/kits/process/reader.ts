import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BUILT_IN_PASSWORD } from '../../../core/identity/first-accounts.ts';
import { configure } from '../http/harness.ts';
import { startMeshd } from './meshd.ts';
import { onTerminal, type Typed } from './pseudo-terminal.ts';

/** Someone who does what a page says, on a machine that has the checkout and nothing else. */

const DOCUMENTED_SERVER = 'http://127.0.0.1:18090';
const OWN_PASSWORD = 'a password of my own 42';

/** What a reader answers where a command asks. */
const ANSWERS: readonly Typed[] = [
  { after: 'Password: ', keys: `${BUILT_IN_PASSWORD}\r` },
  { after: 'New password: ', keys: `${OWN_PASSWORD}\r` },
  { after: 'New password again: ', keys: `${OWN_PASSWORD}\r` },
];

/** A control plane as a page starts it, on an empty directory; only its ports differ from what is written. */
export async function startAsWritten(command: string, app: object = {}) {
  const forwarder = await openForwarder();
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-page-'));
  configure(directory, { app: { publicUrls: [forwarder.url], ...app } });
  const started = command.replace('npm install && ', '').replaceAll(/(\b127\.0\.0\.1):18090/g, '$1:0');
  const meshd = startMeshd({ directory, command: ['/bin/sh', '-c', `${started} -- "$@"`, 'sh'] });
  forwarder.forwardTo(await meshd.ready());
  return {
    url: forwarder.url,
    async [Symbol.asyncDispose]() {
      await meshd.stop();
      await forwarder.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Runs commands in a shell at a terminal, as they are written, until the first that fails. */
export async function runAsWritten(commands: string, url: string = DOCUMENTED_SERVER) {
  const home = mkdtempSync(path.join(tmpdir(), 'mesh-reader-'));
  try {
    const script = path.join(home, 'commands.sh');
    writeFileSync(script, commands.replaceAll(DOCUMENTED_SERVER, url));
    return await onTerminal(`sh -eu ${script}`, ANSWERS, { HOME: home, MESH_SERVER: url });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** A port that is known before the control plane has one, so that its settings can name it; bytes pass as they are. */
async function openForwarder() {
  let port = 0;
  const server = createServer((socket) => {
    const inside = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [socket, inside],
      [inside, socket],
    ] as const) {
      from.pipe(to);
      from.on('error', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forwardTo(url: string) {
      port = Number(new URL(url).port);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
      }),
  };
}
