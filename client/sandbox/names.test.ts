import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { decode, encode, streamDecode, streamEncode } from 'dns-packet';
import { expect, onTestFinished, test } from 'vitest';
import { graphOf } from '../agent/overlay.testkit.ts';
import { resolvConfOf, serveNames } from './names.ts';

const graph = graphOf(['db'], { self: { ...graphOf([]).self, workspace: 'prod' } });
const query = (name: string) => ({ type: 'query' as const, id: 9, questions: [{ name, type: 'A' as const }] });

async function served() {
  const udp = createSocket('udp4');
  const tcp = createServer();
  const names = serveNames(udp, tcp);
  onTestFinished(() => names.close());
  await new Promise<void>((resolve) => udp.bind({ address: '127.0.0.1', port: 0 }, resolve));
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const ask = async (name: string) => {
    const client = createSocket('udp4');
    client.send(encode(query(name)), udp.address().port, '127.0.0.1');
    const [bytes] = await once(client, 'message');
    client.close();
    return decode(bytes);
  };
  return { names, ask, tcpPort: (tcp.address() as AddressInfo).port };
}

test('a sandbox resolves the names of peers over UDP and TCP, as of the graph in force', async () => {
  const { names, ask, tcpPort } = await served();
  expect(await ask('db.prod.mesh.internal')).toMatchObject({ rcode: 'NXDOMAIN' });
  names.use(graph);
  expect((await ask('db.prod.mesh.internal')).answers).toMatchObject([{ data: '10.96.0.2' }]);
  const client = connect(tcpPort, '127.0.0.1');
  client.write(streamEncode(query('db.prod.mesh.internal')));
  expect(streamDecode((await once(client, 'data'))[0]).answers).toMatchObject([{ data: '10.96.0.2' }]);
  client.destroy();
  names.use(undefined);
  expect(await ask('db.prod.mesh.internal')).toMatchObject({ rcode: 'NXDOMAIN' });
});

test.each(['example.com', 'data-to-leak.attacker.example', 'localhost', 'prod', '.'])(
  'that there is no name %s is said at once, and nobody else is asked',
  async (name) => {
    const { names, ask } = await served();
    names.use(graph);
    expect(await ask(name)).toMatchObject({ rcode: 'NXDOMAIN', answers: [] });
  },
);

test('closing is for sockets too that whoever made them has closed', async () => {
  const udp = createSocket('udp4').bind({ address: '127.0.0.1', port: 0 });
  const tcp = createServer().listen(0, '127.0.0.1');
  await Promise.all([once(udp, 'listening'), once(tcp, 'listening')]);
  const names = serveNames(udp, tcp);
  udp.close();
  tcp.close();
  await names.close();
});

test('the resolver configuration of a sandbox names its own server, and the domain of its peers', () => {
  expect(resolvConfOf('127.0.0.53', graph)).toBe('nameserver 127.0.0.53\nsearch prod.mesh.internal\n');
  expect(resolvConfOf('127.0.0.53', undefined)).toBe('nameserver 127.0.0.53\n');
});
