import { createInterface } from 'node:readline';
import { startConnectivity } from '../../client/paths/runtime.ts';
import { tunnelPlatform } from '../../client/tunnel/platform.ts';
import { keyPairOf } from '../../net/seal/x25519.ts';

/**
 * Runs inside a lab's namespace: a tunnel and connectivity without an agent around them. The test is its bus: one JSON value
 * a line, in and out.
 */
const send = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const first = await lines.next();
const { graph, privateKey: keyText, interfaceName, listenPort } = JSON.parse(String(first.value));
const { address, cidr } = graph.self;
const privateKey = Uint8Array.from(Buffer.from(keyText, 'base64'));
const platform = tunnelPlatform(process.platform);
await platform.recover(interfaceName);
const tunnel = await platform.open({ interfaceName, privateKey, listenPort, address, cidr, mtu: 1_280 });

const note = (level: string) => (fields: object, message: string) => send({ type: 'log', level, message, fields });
const connectivity = await startConnectivity({
  keyPair: keyPairOf(privateKey),
  workspaceId: 'w',
  graph,
  tunnel,
  publish: (subject, sealed) => send({ type: 'signal', subject, sealed: Buffer.from(sealed).toString('base64') }),
  log: { error: note('error'), warn: note('warn'), info: note('info'), debug: note('debug') },
});
connectivity.onChange((status) => send({ type: 'status', status }));
const endpoints = await connectivity.admit(graph);
const peers = graph.peers.map(({ publicKey, allowedIps }: { publicKey: string; allowedIps: readonly string[] }) => {
  const endpoint = endpoints.get(publicKey);
  return { publicKey, allowedIps, keepalive: 0, ...(endpoint && { endpoint }) };
});
await tunnel.change(peers, []);
connectivity.updateGraph(graph);
send({ type: 'up' });

for await (const line of { [Symbol.asyncIterator]: () => lines }) {
  const message = JSON.parse(line);
  if (message.type === 'signal') connectivity.receiveSignal(message.subject, Buffer.from(message.sealed, 'base64'));
  else if (message.type === 'bus') connectivity.busState(message.state);
  else if (message.type === 'metrics') send({ type: 'metrics', metrics: connectivity.metrics() });
  else break;
}
await connectivity.close();
await tunnel.close();
send({ type: 'down' });
process.exit(0);
