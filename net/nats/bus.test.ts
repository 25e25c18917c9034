import type { Worker } from 'node:worker_threads';
import { connect } from '@nats-io/transport-node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { EmbeddedBus } from './bus.ts';
import { credentialDigest } from './credentials.ts';
import type { ListenerOptions } from './listener.ts';
import { renderMetrics } from './metrics.ts';

/** A loaded machine is slow; a test that hangs still ends. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } });
/** The client gives up after a second by itself. */
const ASK = { timeout: 60_000 };

const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(options: Partial<ListenerOptions> = {}) {
  const bus = new EmbeddedBus({ host: '127.0.0.1', port: 0, auth: 'open', ...options });
  const { port } = await bus.start();
  open.push(() => bus.stop());
  return { bus, port };
}

async function client(port: number, token?: string) {
  const connection = await connect({ servers: `127.0.0.1:${port}`, ...(token !== undefined && { token }) });
  open.push(() => connection.close());
  return connection;
}

describe('embedded bus', () => {
  it('carries requests to the control plane and its answers back', async () => {
    const { bus, port } = await start();
    bus.subscribe('mesh.control.>', ({ payload, reply }) => bus.publish(reply ?? '', Buffer.from(payload).reverse()));
    await bus.flush();
    const node = await client(port);
    const answers = await Promise.all(['abc', 'xyz'].map((text) => node.request('mesh.control.ask', text, ASK)));
    expect(answers.map((answer) => answer.string())).toEqual(['cba', 'zyx']);
  });

  it('pushes graphs to their nodes in order', async () => {
    const { bus, port } = await start();
    const node = await client(port);
    const graphs = node.subscribe('mesh.w.p.graph', { max: 100 });
    await node.flush();
    for (let version = 0; version < 100; version++) bus.publish('mesh.w.p.graph', Buffer.from(String(version)));
    const got: number[] = [];
    for await (const message of graphs) got.push(Number(message.string()));
    expect(got).toEqual(Array.from({ length: 100 }, (_, version) => version));
  });

  it('stops hearing a subject when asked to', async () => {
    const { bus, port } = await start();
    const got: string[] = [];
    const end = bus.subscribe('mesh.control.a', ({ subject }) => got.push(subject));
    bus.subscribe('mesh.control.b', ({ subject }) => got.push(subject));
    end();
    await bus.flush();
    const node = await client(port);
    node.publish('mesh.control.a');
    node.publish('mesh.control.b');
    await expect.poll(() => got).toEqual(['mesh.control.b']);
  });

  it('takes credentials while it runs and ends what was made with them', async () => {
    const { bus, port } = await start({ auth: 'token' });
    bus.setCredentials([{ id: 'c', digest: credentialDigest('s3'), workspace: 'w', peer: 'p' }]);
    await bus.flush();
    const node = await connect({ servers: `127.0.0.1:${port}`, token: 's3', reconnect: false });
    bus.removeCredentials(['c']);
    expect(await node.closed()).toMatchObject({ message: expect.stringContaining('Revoked') });
    await expect(client(port, 's3')).rejects.toThrow(/Authorization Violation/);
  });

  it('says in numbers what it does', async () => {
    const { bus, port } = await start();
    const node = await client(port);
    node.publish('a', 'x');
    await node.flush();
    const metrics = await bus.metrics();
    expect(metrics).toMatchObject({ connections: 1, connections_total: 1, received_messages_total: 1 });
    expect(metrics && renderMetrics(metrics)).toContain(
      '# TYPE mesh_nats_received_messages_total counter\nmesh_nats_received_messages_total 1\n',
    );
  });

  it('fails to start on a taken port with the code of the system', async () => {
    const { port } = await start();
    const second = new EmbeddedBus({ host: '127.0.0.1', port, auth: 'open' });
    await expect(second.start()).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await second.stop();
  });

  it('refuses subjects that would break the protocol', async () => {
    const { bus } = await start();
    expect(() => bus.publish('a b', new Uint8Array())).toThrow('Not a subject to publish to');
    expect(() => bus.publish('a.>', new Uint8Array())).toThrow('Not a subject to publish to');
    expect(() => bus.publish('a', new Uint8Array(), 'b\r\nPING')).toThrow('Not a subject for replies');
    expect(() => bus.subscribe('a\r\n', () => {})).toThrow('Not a subject');
  });

  it('starts its thread again when it dies, with what was subscribed and who may come', async () => {
    const thread = new Promise<Worker>((resolve) => process.once('worker', resolve));
    const { bus, port } = await start({ auth: 'token' });
    const changes: string[] = [];
    bus.onChange(({ kind }) => changes.push(kind));
    const heard: string[] = [];
    const end = bus.subscribe('mesh.control.gone', ({ subject }) => heard.push(subject));
    bus.subscribe('mesh.control.w.p.before', ({ subject }) => heard.push(subject));
    bus.setCredentials([{ id: 'c', digest: credentialDigest('s3'), workspace: 'w', peer: 'p' }]);
    await bus.flush();

    await (await thread).terminate();
    expect([bus.isUp, changes, await bus.metrics()]).toEqual([false, ['down'], undefined]);
    bus.subscribe('mesh.control.w.p.meanwhile', ({ subject }) => heard.push(subject));
    bus.setCredentials([{ id: 'd', digest: credentialDigest('s4'), workspace: 'w', peer: 'q' }]);
    bus.removeCredentials(['nobody']);
    end();
    await expect.poll(() => changes).toEqual(['down', 'up']);
    expect([bus.isUp, bus.restarts]).toEqual([true, 1]);
    for (const secret of ['s3', 's4']) await client(port, secret);
    const node = await client(port, 's3');
    for (const name of ['gone', 'w.p.before', 'w.p.meanwhile']) node.publish(`mesh.control.${name}`);
    await expect.poll(() => heard).toEqual(['mesh.control.w.p.before', 'mesh.control.w.p.meanwhile']);
  });

  it('stays down when it is stopped while it is down', async () => {
    const thread = new Promise<Worker>((resolve) => process.once('worker', resolve));
    const { bus, port } = await start();
    await (await thread).terminate();
    await bus.stop();
    await expect(client(port)).rejects.toThrow(/refused/);
    expect([bus.isUp, bus.restarts]).toEqual([false, 0]);
  });

  it('can be stopped twice, and answers nothing after', async () => {
    const { bus } = await start();
    await bus.stop();
    await bus.stop();
    await bus.flush();
    expect(await bus.metrics()).toBeUndefined();
  });
});
