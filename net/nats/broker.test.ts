import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Bench } from './bench.testkit.ts';
import { corpus } from './corpus.testkit.ts';
import { credentialDigest } from './credentials.ts';
import { DEFAULT_LIMITS, MIN_PENDING_BYTES } from './limits.ts';

/** A loaded machine is slow; a test that hangs still ends. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const QUIET = 'CONNECT {"verbose":false,"pedantic":false,"headers":true,"protocol":1}\r\n';
const credential = { id: 'c1', digest: credentialDigest('secret'), workspace: 'w1', peer: 'p1' };
const message = (subject: string, bytes: number) => `PUB ${subject} ${bytes}\r\n${'x'.repeat(bytes)}\r\n`;

function guarded() {
  const bench = new Bench({ auth: 'token' });
  bench.broker.credentials.set(credential);
  return bench;
}

describe('greeting', () => {
  it('names the server and what it can do', () => {
    const { greeting } = new Bench({ serverId: 'S', host: 'h', port: 1 }).connect();
    expect(JSON.parse(greeting.slice('INFO '.length))).toEqual({
      server_id: 'S',
      server_name: 'mesh',
      version: '2.9.10',
      proto: 1,
      host: 'h',
      port: 1,
      headers: true,
      max_payload: 1_048_576,
      client_id: 1,
    });
  });

  it('says when a credential or TLS is required', () => {
    const { greeting } = new Bench({ auth: 'token', tls: 'required' }).connect();
    expect(JSON.parse(greeting.slice('INFO '.length))).toMatchObject({ auth_required: true, tls_required: true });
  });
});

describe('limits', () => {
  it('refuses one connection too many and takes the next when one has gone', () => {
    const bench = new Bench({ limits: { maxConnections: 1 } });
    const first = bench.connect();
    const second = bench.connect();
    expect([second.greeting.split('\r\n')[1], second.closed]).toEqual(["-ERR 'maximum connections exceeded'", 'limit']);
    bench.broker.disconnect(first.session, bench.now);
    expect(bench.connect(`${QUIET}PING\r\n`).read()).toBe('PONG\r\n');
  });

  it('refuses one subscription too many and keeps the connection', () => {
    const bench = new Bench({ limits: { address: { ...DEFAULT_LIMITS.address, subscriptions: 1 } } });
    const line = bench.connect(`${QUIET}SUB a 1\r\nSUB b 2\r\nUNSUB 1\r\nSUB b 2\r\nPING\r\n`);
    expect(line.read()).toBe("-ERR 'maximum subscriptions exceeded'\r\nPONG\r\n");
  });

  it('refuses subscriptions of all connections beyond the memory set aside for them', () => {
    const bench = new Bench({ limits: { maxTotalSubscriptionBytes: 4_000 } });
    const [one, two] = [bench.connect(`${QUIET}SUB a 1\r\nSUB b 2\r\n`), bench.connect(`${QUIET}SUB a 1\r\n`)];
    one.send('UNSUB 1\r\n');
    two.send('SUB a 1\r\n');
    expect([one.read(), two.read(), bench.broker.snapshot().subscriptions]).toEqual([
      '',
      "-ERR 'maximum subscriptions exceeded'\r\n",
      2,
    ]);
  });

  it('ends a publisher of more than the maximum payload', () => {
    const line = new Bench({ limits: { maxPayload: 10 } }).connect(`${QUIET}${message('a', 11)}`);
    expect([line.read(), line.closed]).toEqual(["-ERR 'Maximum Payload Violation'\r\n", 'payload']);
  });

  it('cuts off a receiver that takes nothing, and only that one', () => {
    const bench = new Bench({ limits: { maxPending: MIN_PENDING_BYTES } });
    const frozen = bench.connect(`${QUIET}SUB a 1\r\n`);
    const well = bench.connect(`${QUIET}SUB a 1\r\n`);
    const publisher = bench.connect(QUIET);
    frozen.frozen = true;
    let sent = 0;
    while (frozen.closed === undefined && sent < 10_000_000) {
      publisher.send(message('a', 65_000));
      sent += 65_000;
    }
    expect({ cut: frozen.closed, others: [well.closed, publisher.closed] }).toEqual({
      cut: 'slow',
      others: [undefined, undefined],
    });
    expect(sent).toBeGreaterThanOrEqual(MIN_PENDING_BYTES);
    expect(sent).toBeLessThan(MIN_PENDING_BYTES + 400_000);
    expect(bench.broker.snapshot()).toMatchObject({ slow_consumers_total: 1, pending_bytes: 0, connections: 2 });
  });

  it('cuts off whoever is behind when all receivers together hold twice the total', () => {
    const bench = new Bench({ limits: { maxTotalPending: 500_000 } });
    const frozen = ['1', '2', '3'].map(() => bench.connect(`${QUIET}SUB a 1\r\n`));
    const publisher = bench.connect(QUIET);
    for (const line of frozen) line.frozen = true;
    for (let sent = 0; sent < 20; sent++) publisher.send(message('a', 65_000));
    expect(frozen.filter(({ closed }) => closed === 'slow').length).toBeGreaterThan(0);
    expect(bench.broker.snapshot().pending_bytes).toBeLessThan(1_500_000);
  });

  it('asks for relief in the midst of a large fan-out', () => {
    let most = 0;
    const bench: Bench = new Bench({
      relieve: () => {
        most = Math.max(most, bench.broker.pool.queued);
        bench.run();
      },
    });
    const lines = Array.from({ length: 20 }, () => bench.connect(`${QUIET}SUB a 1\r\n`));
    bench.connect(QUIET).send(message('a', 1_000_000));
    expect(most).toBeLessThan(9_500_000);
    expect(lines.map((line) => line.read().length)).toEqual(lines.map(() => 'MSG a 1 1000000\r\n'.length + 1_000_002));
  });

  it('never cuts off one receiver below 2.5 MB, whatever is configured', () => {
    const bench = new Bench({ limits: { maxPending: 1 } });
    const frozen = bench.connect(`${QUIET}SUB a 1\r\n`);
    const publisher = bench.connect(QUIET);
    frozen.frozen = true;
    for (let sent = 0; sent + 66_000 < 2_500_000; sent += 65_000) publisher.send(message('a', 65_000));
    expect(frozen.closed).toBeUndefined();
  });

  it('cuts off a receiver whose write takes too long', () => {
    const bench = new Bench();
    const frozen = bench.connect(`${QUIET}SUB a 1\r\n`);
    frozen.frozen = true;
    bench.connect(QUIET).send(message('a', 10));
    bench.tick(9_999);
    expect(frozen.closed).toBeUndefined();
    bench.tick(1);
    expect(frozen.closed).toBe('slow');
  });

  it('holds a publisher back for a receiver that is behind, once and not for long', () => {
    const bench = new Bench();
    const frozen = bench.connect(`${QUIET}SUB a 1\r\n`);
    const publisher = bench.connect(QUIET);
    frozen.frozen = true;
    for (let sent = 0; sent < 20; sent++) publisher.send(message('a', 65_000));
    const held = publisher.paused;
    bench.broker.tickStalls(bench.now + 50);
    bench.run();
    const released = publisher.paused;
    publisher.send(message('a', 65_000));
    expect([held, released, publisher.paused, bench.broker.metrics.publisher_stalls_total]).toEqual([
      true,
      false,
      false,
      1,
    ]);
  });

  it('lets a held publisher go when the receiver has caught up or gone', () => {
    const bench = new Bench();
    const frozen = bench.connect(`${QUIET}SUB a 1\r\n`);
    const publisher = bench.connect(QUIET);
    frozen.frozen = true;
    for (let sent = 0; sent < 20; sent++) publisher.send(message('a', 65_000));
    bench.broker.disconnect(frozen.session, bench.now);
    bench.run();
    expect(publisher.paused).toBe(false);
  });
});

describe('keeping alive', () => {
  it('pings, and ends a connection that does not answer', () => {
    const bench = new Bench();
    const silent = bench.connect(QUIET);
    const alive = bench.connect(QUIET);
    for (let round = 0; round < 4; round++) {
      bench.tick(120_000);
      alive.send('PONG\r\n');
    }
    expect([silent.read(), silent.closed, alive.read(), alive.closed]).toEqual([
      "PING\r\nPING\r\n-ERR 'Stale Connection'\r\n",
      'stale',
      'PING\r\n'.repeat(4),
      undefined,
    ]);
  });

  it('ends a sender that drips bytes without ever finishing an operation', () => {
    const bench = new Bench();
    const slow = bench.connect();
    slow.send('PUB foo 1000\r\n');
    for (let round = 0; round < 4; round++) {
      slow.send('x');
      bench.tick(120_000);
    }
    expect(slow.closed).toBe('stale');
  });
});

describe('credentials', () => {
  it.each(['auth_token', 'pass', 'user'])('takes the secret from %s', (field) => {
    const line = guarded().connect(`CONNECT {"verbose":false,"${field}":"secret"}\r\nPING\r\n`);
    expect(line.read()).toBe('PONG\r\n');
  });

  it.each(['CONNECT {}\r\n', 'CONNECT {"auth_token":"guess"}\r\n', 'PING\r\n', 'SUB > 1\r\n'])(
    'refuses %j',
    (first) => {
      const line = guarded().connect(`${first}PING\r\n`);
      const refusal = /^-ERR 'Authorization Violation \(no credential of a node: .+ registers again\)'\r\n$/;
      expect([line.read(), line.closed]).toEqual([expect.stringMatching(refusal), 'unauthorized']);
    },
  );

  it('ends a connection that says nothing in time', () => {
    const bench = guarded();
    const line = bench.connect();
    bench.tick(2_000);
    expect([line.read(), line.closed]).toEqual(["-ERR 'Authentication Timeout'\r\n", 'auth-timeout']);
  });

  it('ends connections when their credential is revoked or expires', () => {
    const bench = guarded();
    bench.broker.credentials.set({
      ...credential,
      id: 'c2',
      digest: credentialDigest('brief'),
      expiresAt: bench.now + 5,
    });
    const revoked = bench.connect('CONNECT {"verbose":false,"auth_token":"secret"}\r\n');
    const expiring = bench.connect('CONNECT {"verbose":false,"auth_token":"brief"}\r\n');
    bench.broker.revoke('c1', bench.now);
    bench.tick(1_000);
    expect([revoked.read(), revoked.closed, expiring.read(), expiring.closed]).toEqual([
      "-ERR 'User Authentication Revoked'\r\n",
      'revoked',
      "-ERR 'User Authentication Expired'\r\n",
      'revoked',
    ]);
  });

  it("lets no node of one tenant hear another's inbox or speak to the control plane in its name", () => {
    const line = guarded().connect('CONNECT {"verbose":false,"pedantic":false,"auth_token":"secret"}\r\n');
    line.send('SUB _INBOX.b1.> 1\r\nPUB mesh.control.wB.b1.heartbeat 0\r\n\r\n');
    line.send('PUB mesh.control.w1.p1.heartbeat _INBOX.b1.1 0\r\n\r\n');
    expect(line.read().split('\r\n')).toEqual([
      '-ERR \'Permissions Violation for Subscription to "_INBOX.b1.>"\'',
      '-ERR \'Permissions Violation for Publish to "mesh.control.wB.b1.heartbeat"\'',
      '-ERR \'Permissions Violation for Publish with Reply of "_INBOX.b1.1"\'',
      '',
    ]);
  });

  it('lets a node use its own subjects alone', () => {
    const line = guarded().connect('CONNECT {"verbose":false,"pedantic":false,"auth_token":"secret"}\r\n');
    line.send(
      'SUB mesh.w1.p1.graph 1\r\nSUB mesh.w1.p2.signal 2\r\nSUB > 3\r\nSUB _INBOX.> 4\r\nSUB _INBOX.p1.me.* 5\r\n',
    );
    line.send(
      'PUB mesh.w1.p2.signal 0\r\n\r\nPUB mesh.w2.p2.signal 0\r\n\r\nPUB mesh.control.w1.p1.graph _INBOX.p1.me.1 0\r\n\r\nPING\r\n',
    );
    expect(line.read().split('\r\n')).toEqual([
      '-ERR \'Permissions Violation for Subscription to "mesh.w1.p2.signal"\'',
      '-ERR \'Permissions Violation for Subscription to ">"\'',
      '-ERR \'Permissions Violation for Subscription to "_INBOX.>"\'',
      '-ERR \'Permissions Violation for Publish to "mesh.w2.p2.signal"\'',
      'PONG',
      '',
    ]);
  });
});

describe('the control plane', () => {
  it('hears control requests with reply, headers and sender, and may push graphs', () => {
    const bench = guarded();
    const control = bench.control();
    control.send('SUB mesh.control.> 7\r\n');
    const line = bench.connect('CONNECT {"verbose":false,"headers":true,"auth_token":"secret"}\r\n');
    line.send('SUB mesh.w1.p1.graph 1\r\nHPUB mesh.control.w1.p1.graph _INBOX.p1.1 12 14\r\nNATS/1.0\r\n\r\nhi\r\n');
    control.send('PUB mesh.w1.p1.graph 3\r\nmap\r\n');
    expect(bench.deliveries).toEqual([
      {
        sid: '7',
        subject: 'mesh.control.w1.p1.graph',
        reply: '_INBOX.p1.1',
        headers: new Uint8Array(Buffer.from('NATS/1.0\r\n\r\n')),
        payload: new Uint8Array(Buffer.from('hi')),
        from: 'c1',
        connection: line.session.id,
      },
    ]);
    expect(line.read()).toBe('MSG mesh.w1.p1.graph 1 3\r\nmap\r\n');
  });

  it('cannot be led to answer on a graph subject', () => {
    const bench = new Bench();
    bench.control().send('SUB mesh.control.> 7\r\n');
    const line = bench.connect(`${QUIET}PUB mesh.control.ask mesh.w.p.graph 2\r\nhi\r\n`);
    expect([line.read(), bench.deliveries]).toEqual([
      '-ERR \'Permissions Violation for Publish with Reply of "mesh.w.p.graph"\'\r\n',
      [],
    ]);
  });
});

describe('routing', () => {
  it('gives each message to one member of a queue group, and to all in turn', () => {
    const bench = new Bench();
    const members = ['1', '2', '3'].map(() => bench.connect(`${QUIET}SUB jobs q 1\r\n`));
    bench.connect(QUIET).send('PUB jobs 0\r\n\r\n'.repeat(300));
    const got = members.map((member) => member.read().split('MSG').length - 1);
    expect(got.reduce((sum, each) => sum + each)).toBe(300);
    expect(Math.min(...got)).toBeGreaterThan(50);
  });

  it('skips the sender in a queue group when it wants no echo', () => {
    const bench = new Bench();
    const other = bench.connect(`${QUIET}SUB jobs q 1\r\n`);
    bench.connect('CONNECT {"verbose":false,"echo":false}\r\nSUB jobs q 1\r\n').send('PUB jobs 0\r\n\r\n'.repeat(20));
    expect(other.read().split('MSG').length - 1).toBe(20);
  });

  it('writes all messages of a tick to a receiver at once', () => {
    const bench = new Bench();
    bench.connect(`${QUIET}SUB a 1\r\n`);
    const publisher = bench.connect(QUIET);
    bench.broker.handle(publisher.session, Buffer.from('PUB a 1\r\nx\r\n'.repeat(50)), bench.now);
    expect(bench.run().map(({ kind }) => kind)).toEqual(['write']);
  });

  it('gives each of many receivers its own messages in order, whatever comes in between and whoever does not read', () => {
    const subject = fc.constantFrom('a', 'b');
    const receiver = fc.record({
      subjects: fc.uniqueArray(subject, { minLength: 1 }),
      sid: fc.constantFrom('1', '22'),
    });
    const step = fc.oneof(
      { weight: 9, arbitrary: fc.record({ subject, bytes: fc.constantFrom(0, 5, 300, 20_000) }) },
      { weight: 1, arbitrary: fc.nat(5).map((ping) => ({ ping })) },
    );
    const turns = fc.array(fc.array(step, { maxLength: 12 }), { maxLength: 6 });
    fc.assert(
      fc.property(fc.array(receiver, { minLength: 4, maxLength: 12 }), turns, (receivers, all) => {
        const bench: Bench = new Bench({ relieve: () => bench.run() });
        const lines = receivers.map(({ subjects, sid }) =>
          bench.connect(`${QUIET}${subjects.map((name) => `SUB ${name} ${name}${sid}\r\n`).join('')}`),
        );
        const frozen = bench.connect(`${QUIET}SUB * 1\r\n`);
        frozen.frozen = true;
        const publisher = bench.connect(QUIET);
        const expected = receivers.map(() => '');
        for (const turn of all) {
          let sent = '';
          for (const part of turn) {
            if ('ping' in part) {
              bench.broker.handle(publisher.session, Buffer.from(sent), bench.now);
              sent = '';
              const line = lines[part.ping];
              if (line === undefined) continue;
              bench.broker.handle(line.session, Buffer.from('PING\r\n'), bench.now);
              expected[part.ping] += 'PONG\r\n';
              continue;
            }
            sent += message(part.subject, part.bytes);
            for (const [at, { subjects, sid }] of receivers.entries()) {
              if (!subjects.includes(part.subject)) continue;
              expected[at] += message(part.subject, part.bytes)
                .replace('PUB', 'MSG')
                .replace(/ (?=\d)/, ` ${part.subject}${sid} `);
            }
          }
          publisher.send(sent);
        }
        expect(lines.map((line) => line.read())).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });

  it('forgets everything of a connection that has gone', () => {
    const bench = new Bench();
    const line = bench.connect(`${QUIET}SUB a 1\r\nSUB b.* q 2\r\nPUB c 100\r\nhalf`);
    bench.broker.disconnect(line.session, bench.now);
    expect(bench.broker.snapshot()).toMatchObject({
      connections: 0,
      subscriptions: 0,
      partial_bytes: 0,
      pending_bytes: 0,
    });
  });
});

describe('shutting down', () => {
  it('tells clients that it is about to go, and ends them a few at a time', () => {
    const bench = new Bench();
    const lines = [bench.connect(QUIET), bench.connect(QUIET), bench.connect(QUIET)];
    bench.broker.lameDuck(bench.now);
    bench.run();
    const told = lines.map((line) => JSON.parse(line.read().slice('INFO '.length)).ldm);
    const left = bench.broker.closeSome(2, bench.now);
    bench.run();
    expect({ told, left, closed: lines.map(({ closed }) => closed) }).toEqual({
      told: [true, true, true],
      left: 1,
      closed: ['shutdown', 'shutdown', undefined],
    });
  });
});

describe('bad input', () => {
  it('never throws, and keeps its books, whatever two connections send', () => {
    const piece = fc.oneof(
      fc.constantFrom(...corpus.flatMap(({ turns }) => turns.map(([, text]) => text))),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), piece), { maxLength: 12 }), (pieces) => {
        const bench = new Bench({ limits: { maxPayload: 5_000 } });
        const lines = [bench.connect(), bench.connect()];
        for (const [first, text] of pieces) lines[first ? 0 : 1]?.send(text);
        for (const line of lines) bench.broker.disconnect(line.session, bench.now);
        expect(bench.broker.snapshot()).toMatchObject({
          connections: 0,
          subscriptions: 0,
          subscription_bytes: 0,
          partial_bytes: 0,
          pending_bytes: 0,
        });
      }),
      { numRuns: 500 },
    );
  });
});
