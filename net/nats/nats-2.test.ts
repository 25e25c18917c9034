import { connect, Empty, ErrorCode, headers, type NatsConnection, StringCodec } from 'nats';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { EmbeddedBus } from './bus.ts';

/** A loaded machine is slow; a test that hangs still ends. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
/** The client gives up after a second by itself. */
const ASK = { timeout: 60_000 };

const open: (() => Promise<unknown>)[] = [];
const text = StringCodec();

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start() {
  const bus = new EmbeddedBus({ host: '127.0.0.1', port: 0, auth: 'open' });
  const { port } = await bus.start();
  open.push(() => bus.stop());
  const client = async (): Promise<NatsConnection> => {
    const connection = await connect({ servers: `127.0.0.1:${port}` });
    open.push(() => connection.close());
    return connection;
  };
  return { client };
}

describe('the client nats 2.x on the bus', () => {
  it('connects and publishes to subscribers, by wildcard and with headers', async () => {
    const { client } = await start();
    const [sender, receiver] = [await client(), await client()];
    expect(receiver.info).toMatchObject({ headers: true, max_payload: expect.any(Number) });
    const subscription = receiver.subscribe('app.*', { max: 2 });
    await receiver.flush();
    const kind = headers();
    kind.set('kind', 'greeting');
    sender.publish('app.one', text.encode('hello'), { headers: kind });
    sender.publish('app.two', Empty);
    const got: unknown[] = [];
    for await (const message of subscription) {
      got.push([message.subject, text.decode(message.data), message.headers?.get('kind')]);
    }
    expect(got).toEqual([
      ['app.one', 'hello', 'greeting'],
      ['app.two', '', undefined],
    ]);
  });

  it('asks and is answered, and hears at once that nobody answers', async () => {
    const { client } = await start();
    const [asking, answering] = [await client(), await client()];
    answering.subscribe('app.ask', {
      callback: (_error, message) => void message.respond(text.encode(text.decode(message.data).toUpperCase())),
    });
    await answering.flush();
    expect(text.decode((await asking.request('app.ask', text.encode('loud'), ASK)).data)).toBe('LOUD');
    await expect(asking.request('app.nobody')).rejects.toMatchObject({ code: ErrorCode.NoResponders });
  });

  it('shares the messages of a queue group among its members', async () => {
    const { client } = await start();
    const [sender, one, two] = [await client(), await client(), await client()];
    const seen = { one: 0, two: 0 };
    const all = Promise.withResolvers<void>();
    const count = (member: keyof typeof seen) => () => {
      seen[member] += 1;
      if (seen.one + seen.two === MESSAGES) all.resolve();
    };
    one.subscribe('app.job', { queue: 'workers', callback: count('one') });
    two.subscribe('app.job', { queue: 'workers', callback: count('two') });
    await Promise.all([one.flush(), two.flush()]);
    for (let job = 0; job < MESSAGES; job += 1) sender.publish('app.job');
    await all.promise;
    await Promise.all([one.flush(), two.flush()]);
    expect(seen.one + seen.two).toBe(MESSAGES);
    expect(Math.min(seen.one, seen.two)).toBeGreaterThan(0);
  });

  it('drains: what was sent arrives, and the connection ends without an error', async () => {
    const { client } = await start();
    const [sender, receiver] = [await client(), await client()];
    const got: string[] = [];
    receiver.subscribe('app.last', { callback: (_error, { data }) => got.push(text.decode(data)) });
    await receiver.flush();
    for (const word of ['one', 'two', 'three']) sender.publish('app.last', text.encode(word));
    await sender.drain();
    await receiver.drain();
    expect([await sender.closed(), await receiver.closed()]).toEqual([undefined, undefined]);
    expect(got).toEqual(['one', 'two', 'three']);
  });
});

const MESSAGES = 200;
