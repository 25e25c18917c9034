import { describe, expect, it } from 'vitest';
import { Bench, type Line } from './bench.testkit.ts';
import { credentialDigest } from './credentials.ts';
import { CONTROL_PACE, DEFAULT_LIMITS, type Limits, MIN_PENDING_BYTES, SIGNAL_PACE } from './limits.ts';
import { pacedKindOf } from './paces.ts';
import { mayPublish, nodePermissions, OPEN_PERMISSIONS } from './permissions.ts';

const QUIET = 'CONNECT {"verbose":false,"pedantic":false}\r\n';
const EXCEEDED = "-ERR 'maximum subscriptions exceeded'";
const FULL = "-ERR 'maximum connections exceeded'";
/** As deep as a subject may be, with a wildcard: the dearest there is. */
const DEEP = `${'a.'.repeat(28)}*`;

/** The first four of it are what a node needs. */
const signIn = (peer: string) =>
  `CONNECT {"verbose":false,"pedantic":false,"auth_token":"${peer}"}\r\nSUB mesh.w.${peer}.signal 1\r\n` +
  `SUB mesh.w.${peer}.graph 2\r\nSUB _INBOX.${peer}.x.* 3\r\nSUB _INBOX.${peer}.y.* 4\r\n`;

function tokenBench(peers: readonly string[], limits: Partial<Limits> = {}): Bench {
  const bench = new Bench({ auth: 'token', limits });
  for (const peer of peers) {
    bench.broker.credentials.set({ id: peer, digest: credentialDigest(peer), workspace: 'w', peer });
  }
  return bench;
}

const many = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('');
const isFull = (line: Line) => line.greeting.includes(FULL);

describe('what one node holds', () => {
  it('is bounded over all its connections, and another node finds its four subscriptions as before', () => {
    const bench = tokenBench(['a', 'b']);
    const noisy = Array.from({ length: 5 }, () => bench.connect(signIn('a')));
    for (const [n, line] of noisy.entries()) {
      line.send(many(4_000, (at) => `SUB _INBOX.a.${n}x${at}.${DEEP} ${at + 9}\r\n`));
    }
    const { subscriptionBytes } = DEFAULT_LIMITS.node;
    expect(bench.broker.snapshot().subscription_bytes).toBeLessThanOrEqual(subscriptionBytes);
    expect(noisy.map((line) => line.read().includes(EXCEEDED))).toEqual([true, true, true, true, true]);
    expect(bench.connect(`${signIn('b')}PING\r\n`).read()).toBe('PONG\r\n');
    for (const { session } of noisy) bench.broker.disconnect(session, bench.now);
    expect(bench.broker.snapshot()).toMatchObject({ subscriptions: 4, connections: 1 });
    expect(bench.broker.snapshot().subscription_bytes).toBeLessThan(10_000);
  });

  it('is a few connections: its newest one ends the oldest, which it may have lost', () => {
    const bench = tokenBench(['a', 'b']);
    const other = bench.connect(signIn('b'));
    const { connections } = DEFAULT_LIMITS.node;
    const lines = Array.from({ length: connections + 2 }, () => bench.connect(signIn('a')));
    expect(lines.map(({ closed }) => closed)).toEqual(['limit', 'limit', ...Array(connections).fill(undefined)]);
    expect([lines[0]?.read(), other.closed]).toEqual([`${FULL}\r\n`, undefined]);
  });
});

describe('what strangers hold', () => {
  it('is bounded for each address, whole networks of IPv6 being one', () => {
    const limits = { address: { ...DEFAULT_LIMITS.address, connections: 3, subscriptions: 2 } };
    const bench = new Bench({ limits });
    const lines = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8::4', '2001:db8:0:1::1', '192.0.2.1'].map(
      (address) => bench.connect(QUIET, address),
    );
    expect(lines.map(isFull)).toEqual([false, false, false, true, false, false]);
    lines[0]?.send('SUB a 1\r\nSUB b 2\r\nSUB c 3\r\n');
    lines[5]?.send('SUB a 1\r\nPING\r\n');
    expect([lines[0]?.read(), lines[5]?.read()]).toEqual([`${EXCEEDED}\r\n`, 'PONG\r\n']);
  });

  it('leaves places for a node that has come before from its address, and for the memory it needs', () => {
    const bench = tokenBench(['a'], { maxConnections: 10, maxTotalSubscriptionBytes: 40_000 });
    const node = bench.connect(signIn('a'), '192.0.2.1');
    bench.broker.disconnect(node.session, bench.now);
    const strangers = Array.from({ length: 8 }, (_, at) => bench.connect('', `198.51.100.${at}`));
    expect(strangers.filter(isFull)).toHaveLength(3);
    expect(bench.connect(`${signIn('a')}PING\r\n`, '192.0.2.1').read()).toBe('PONG\r\n');
  });

  it('does not grow by what a node on the open bus has proven to be its own', () => {
    const limits = { address: { ...DEFAULT_LIMITS.address, connections: 1 } };
    const bench = new Bench({ limits });
    const node = bench.connect(`${QUIET}SUB mesh.w.a.signal 1\r\n`, '192.0.2.1');
    const early = bench.connect('', '192.0.2.1');
    bench.broker.identifyConnection(node.session.id, 'a', bench.now);
    const late = bench.connect('', '192.0.2.1');
    expect([early, late].map(isFull)).toEqual([true, false]);
    bench.broker.disconnect(node.session, bench.now);
    expect(bench.broker.snapshot()).toMatchObject({ subscriptions: 0, subscription_bytes: 0 });
  });

  it('does not end the connection of a node that proves another one while the bus is full', () => {
    const bench = new Bench({ limits: { maxConnections: 4 } });
    const first = bench.connect('', '192.0.2.1');
    bench.broker.identifyConnection(first.session.id, 'a', bench.now);
    const others = [1, 2, 3].map(() => bench.connect('', '192.0.2.1'));
    bench.broker.identifyConnection(others[0]?.session.id ?? 0, 'a', bench.now);
    bench.run();
    expect([bench.connect('', '192.0.2.1').closed, first.closed, others[0]?.closed]).toEqual([
      'limit',
      undefined,
      undefined,
    ]);
  });

  it('is no half-sent message that others have no room for', () => {
    const bench = new Bench();
    const half = `PUB a 1000000\r\n${'x'.repeat(900_000)}`;
    const greedy = Array.from({ length: 100 }, () => bench.connect(`${QUIET}${half}`, '192.0.2.1'));
    expect(greedy.filter(({ closed }) => closed !== undefined).length).toBeGreaterThan(50);
    expect(bench.broker.snapshot().partial_bytes).toBeLessThanOrEqual(DEFAULT_LIMITS.address.partialBytes);
    const other = bench.connect(`${QUIET}${half}`, '192.0.2.2');
    expect(other.closed).toBeUndefined();
  });
});

describe('a receiver that does not read', () => {
  const message = `PUB a 1000000\r\n${'x'.repeat(1_000_000)}\r\n`;
  const frozenAt = (bench: Bench, address: string) => {
    const line = bench.connect(`${QUIET}SUB a 1\r\n`, address);
    line.frozen = true;
    return line;
  };
  const sendUntil = (bench: Bench, isDone: () => boolean, most: number) => {
    const publisher = bench.connect(QUIET, '203.0.113.1');
    let sent = 0;
    while (!isDone() && sent < most) {
      publisher.send(message);
      sent++;
    }
    return sent;
  };

  it('is cut off at the 64 MB of nats-server', () => {
    const bench = new Bench();
    const frozen = frozenAt(bench, '192.0.2.1');
    expect(sendUntil(bench, () => frozen.closed !== undefined, 100)).toBe(68);
  });

  it('is cut off earlier when its address lets as much wait on other connections', () => {
    const bench = new Bench();
    const both = ['192.0.2.1', '192.0.2.1'].map((address) => frozenAt(bench, address));
    const well = frozenAt(bench, '192.0.2.2');
    expect(sendUntil(bench, () => both.some(({ closed }) => closed !== undefined), 100)).toBe(34);
    expect(well.closed).toBeUndefined();
  });

  it('keeps 2.5 MB when it is a node, however much waits for others', () => {
    const bench = new Bench({ limits: { maxTotalPending: 1 } });
    const stranger = frozenAt(bench, '192.0.2.1');
    const node = frozenAt(bench, '192.0.2.2');
    bench.broker.identifyConnection(node.session.id, 'a', bench.now);
    const sent = sendUntil(bench, () => node.closed !== undefined, 100);
    expect([sent * 1_000_000 > MIN_PENDING_BYTES, stranger.closed]).toEqual([true, 'slow']);
  });
});

describe('what costs its receiver cryptography', () => {
  const heartbeats = (count: number) => many(count, () => 'PUB mesh.control.w.b1.heartbeat 1\r\nx\r\n');

  function heard(bench: Bench, line: Line): number {
    return bench.deliveries.filter(({ connection }) => connection === line.session.id).length;
  }

  it('is let through at the rate of its sender, so that 2,000 forged heartbeats a second stop no real one', () => {
    const bench = new Bench();
    bench.control().send('SUB mesh.control.> 1\r\n');
    const forger = bench.connect(QUIET, '192.0.2.1');
    const node = bench.connect(QUIET, '192.0.2.1');
    for (let second = 0; second < 30; second++) {
      bench.now += 1_000;
      forger.send(heartbeats(2_000));
      if (second % 5 === 0) node.send(heartbeats(1));
    }
    const { perSecond, burst } = CONTROL_PACE.stranger;
    expect(heard(bench, node)).toBe(6);
    expect(heard(bench, forger)).toBeLessThanOrEqual(30 * perSecond + burst);
    expect(bench.broker.snapshot().paced_messages_dropped_total).toBeGreaterThan(59_000);
  });

  it('is let through at the same rate into the inbox of a node, whatever the rest of the inbox is called', () => {
    const bench = new Bench();
    const peer = `p_${'a'.repeat(26)}`;
    const node = bench.connect(`${QUIET}SUB _INBOX.${peer}.> 1\r\n`, '192.0.2.2');
    const control = bench.control();
    const stranger = bench.connect(QUIET, '192.0.2.1');
    const flood = (second: number) => many(500, (at) => `PUB _INBOX.${peer}.n${second}x${at} 1\r\nx\r\n`);
    for (let second = 0; second < 10; second++) {
      bench.now += 1_000;
      stranger.send(flood(second));
    }
    const received = () => node.read().split('MSG ').length - 1;
    const { perSecond, burst } = SIGNAL_PACE.stranger;
    expect(received()).toBeLessThanOrEqual(10 * perSecond + burst);
    control.send(many(1_000, (at) => `PUB _INBOX.${peer}.answer${at} 1\r\nx\r\n`));
    expect(received()).toBe(1_000);
  });

  it('holds for each subject of a node on which the open bus lets strangers publish', () => {
    const peer = `p_${'a'.repeat(26)}`;
    const heard = nodePermissions('w1', peer).subscribe.allow?.map((subject) => subject.replace('>', 'x')) ?? [];
    const open = heard.filter((subject) => mayPublish(OPEN_PERMISSIONS, subject));
    expect(open).toEqual([`mesh.w1.${peer}.signal`, `_INBOX.${peer}.x`]);
    expect(open.map(pacedKindOf)).toEqual(['signal', 'signal']);
  });

  it('does not gain by more connections from one address', () => {
    const bench = new Bench();
    bench.control().send('SUB mesh.control.> 1\r\n');
    for (let at = 0; at < 500; at++) bench.connect(`${QUIET}${heartbeats(100)}`, '192.0.2.1');
    expect(bench.deliveries.length).toBe(CONTROL_PACE.address.burst);
    const node = bench.connect(QUIET, '192.0.2.2').send(heartbeats(1));
    expect(heard(bench, node)).toBe(1);
  });

  it('reaches a node at the rate of each sender of signals, and counts for more when it is large', () => {
    const bench = new Bench();
    const node = bench.connect(`${QUIET}SUB mesh.w.b1.signal 1\r\n`, '192.0.2.9');
    const signals = (count: number, bytes: number) =>
      many(count, () => `PUB mesh.w.b1.signal ${bytes}\r\n${'x'.repeat(bytes)}\r\n`);
    const got = () => node.read().split('MSG ').length - 1;
    bench.connect(`${QUIET}${signals(2_000, 100)}`, '192.0.2.1');
    expect(got()).toBe(SIGNAL_PACE.stranger.burst);
    bench.connect(`${QUIET}${signals(1, 1_000_000)}`, '192.0.2.2');
    expect(got()).toBe(0);
    bench.connect(`${QUIET}${signals(1, 100)}`, '192.0.2.3');
    expect(got()).toBe(1);
  });
});
