import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type Duplex, pipeline } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { connectDatagrams, listenForDatagrams } from './datagram-flows.ts';

const HOST = '127.0.0.1';

async function program(port = 0): Promise<Socket> {
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  socket.bind(port, HOST);
  await once(socket, 'listening');
  return socket;
}

/** A listener whose flows lead to the port of a program. */
async function leading(to: number, limits: { idleMs?: number; maxFlows?: number } = {}) {
  const flows: Duplex[] = [];
  const onFlow = (flow: Duplex) => {
    flows.push(flow);
    pipeline(flow, connectDatagrams({ host: HOST, port: to }), flow, () => {});
  };
  const listener = await listenForDatagrams({ host: HOST, port: 0 }, onFlow, limits);
  onTestFinished(() => listener.close());
  return { flows, port: listener.port };
}

async function answer(socket: Socket, text: string, port: number): Promise<string> {
  const answered = once(socket, 'message');
  socket.send(text, port, HOST);
  return `${(await answered)[0]}`;
}

it('leads the datagrams of each program to a port by a flow of its own, and the answers back', async () => {
  const service = await program();
  service.on('message', (bytes, { port }) => service.send(`${bytes} from ${port}`, port, HOST));
  const { flows, port } = await leading(service.address().port);
  const [one, two] = [await program(), await program()];
  const first = await answer(one, 'a', port);
  expect(first).toMatch(/^a from \d+$/);
  expect(await answer(two, 'a', port)).not.toBe(first);
  expect(await answer(one, 'a', port)).toBe(first);
  expect(flows).toHaveLength(2);
});

it('ends a flow that is idle, and begins another when its program sends again', async () => {
  const service = await program();
  service.on('message', (bytes, { port }) => service.send(bytes, port, HOST));
  const { flows, port } = await leading(service.address().port, { idleMs: 50 });
  const one = await program();
  expect(await answer(one, 'a', port)).toBe('a');
  await once(flows[0] as Duplex, 'close');
  expect(await answer(one, 'b', port)).toBe('b');
  expect(flows).toHaveLength(2);
});

it('loses datagrams of further programs while it has as many flows as it may, and takes them after that', async () => {
  const service = await program();
  service.on('message', (bytes, { port }) => service.send(bytes, port, HOST));
  const { flows, port } = await leading(service.address().port, { maxFlows: 1 });
  const [one, two] = [await program(), await program()];
  expect(await answer(one, 'a', port)).toBe('a');
  two.send('lost', port, HOST);
  expect(await answer(one, 'b', port)).toBe('b');
  expect(flows).toHaveLength(1);
  const closed = once(flows[0] as Duplex, 'close');
  flows[0]?.destroy();
  await closed;
  expect(await answer(two, 'c', port)).toBe('c');
});

it('ends a flow whose port is refused, and names a port that is taken', async () => {
  const gone = createSocket('udp4').bind(0, HOST);
  await once(gone, 'listening');
  const { port } = gone.address();
  gone.close();
  const flow = connectDatagrams({ host: HOST, port });
  flow.write('nobody');
  const [error] = await once(flow, 'error');
  expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  const taken = await program();
  const at = { host: HOST, port: taken.address().port };
  await expect(listenForDatagrams(at, () => {})).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
