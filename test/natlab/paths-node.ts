import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { startConnectivity } from '../../client/paths/runtime.ts';
import type { Endpoint } from '../../client/tunnel/tunnel.ts';
import { keyPairOf } from '../../net/seal/x25519.ts';

/**
 * Runs inside a lab's namespace: wireguard-go and connectivity without an agent around them. The test is its bus: one JSON
 * value a line, in and out.
 */
const run = promisify(execFile);
const send = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const first = await lines.next();
const { graph, privateKey, interfaceName, listenPort } = JSON.parse(String(first.value));
const keyPair = keyPairOf(Uint8Array.from(Buffer.from(privateKey, 'base64')));

await run('wireguard-go', [interfaceName], { env: { ...process.env, LOG_LEVEL: 'silent' } });
const wg = async (args: string[]) => (await run('wg', args)).stdout;
const keyFile = path.join(mkdtempSync(path.join(tmpdir(), 'mesh-key-')), 'key');
writeFileSync(keyFile, privateKey, { mode: 0o600 });
await wg(['set', interfaceName, 'listen-port', String(listenPort), 'private-key', keyFile]);
rmSync(path.dirname(keyFile), { recursive: true });
await run('ip', ['address', 'add', `${graph.self.address}/24`, 'dev', interfaceName]);
await run('ip', ['link', 'set', interfaceName, 'mtu', '1280', 'up']);

const textOf = ({ address, port }: Endpoint) => (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`);
const tunnel = {
  interfaceName,
  listenPort,
  async setEndpoint(publicKey: string, endpoint: Endpoint) {
    send({ type: 'endpoint', at: Date.now(), endpoint });
    await wg(['set', interfaceName, 'peer', publicKey, 'endpoint', textOf(endpoint)]);
  },
  async peers() {
    const dump = await wg(['show', interfaceName, 'dump']);
    return dump
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => {
        const [publicKey = '', , text = '', , handshake, received, sent] = line.split('\t');
        const [, address = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(text) ?? [];
        return {
          publicKey,
          endpoint: port === undefined ? null : { address, port: Number(port) },
          handshakeAt: Number(handshake) * 1_000 || null,
          receivedBytes: Number(received),
          sentBytes: Number(sent),
        };
      });
  },
};
const note = (level: string) => (fields: object, message: string) => send({ type: 'log', level, message, fields });
const connectivity = await startConnectivity({
  keyPair,
  workspaceId: 'w',
  graph,
  tunnel,
  publish: (subject, sealed) => send({ type: 'signal', subject, sealed: Buffer.from(sealed).toString('base64') }),
  log: { error: note('error'), warn: note('warn'), info: note('info'), debug: note('debug') },
});
connectivity.onChange((status) => send({ type: 'status', at: Date.now(), status }));
const endpoints = await connectivity.admit(graph);
for (const { publicKey, allowedIps } of graph.peers) {
  const endpoint = endpoints.get(publicKey);
  const where = endpoint ? ['endpoint', textOf(endpoint)] : [];
  await wg(['set', interfaceName, 'peer', publicKey, 'allowed-ips', allowedIps.join(','), ...where]);
}
connectivity.updateGraph(graph);
send({ type: 'up' });

for await (const line of { [Symbol.asyncIterator]: () => lines }) {
  const message = JSON.parse(line);
  if (message.type === 'signal') connectivity.receiveSignal(message.subject, Buffer.from(message.sealed, 'base64'));
  else if (message.type === 'bus') connectivity.busState(message.state);
  else if (message.type === 'hurry') connectivity.hurry(message.peer);
  else if (message.type === 'metrics')
    send({ type: 'metrics', metrics: connectivity.metrics(), statuses: connectivity.statuses() });
  else if (message.type === 'close') break;
}
await connectivity.close();
await run('ip', ['link', 'delete', interfaceName]);
send({ type: 'down' });
process.exit(0);
