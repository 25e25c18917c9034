import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generateKeyPair, type KeyPair } from '../seal/x25519.ts';
import { RelayClient, type RelayClientEvent } from './client.ts';
import { RelayControl } from './control.ts';
import { decodeCredential, mintCredential, relayKeysOf, workspaceTagOf } from './credential.ts';
import { peerIdOf, viewOf, writeHeader } from './frame.ts';
import { STREAM_CORPUS } from './fuzz-corpus.testkit.ts';
import { MAX_HANDSHAKE_PAYLOAD } from './handshake.ts';
import type { RelayLimits } from './limits.ts';
import { encodeMessage } from './message.ts';
import { RelayServer } from './server.ts';
import type { RelaySession } from './session.ts';

const TOKEN = 'shared-token';
const DAY_MS = 86_400_000;
/** A long run sets more: docs/fuzzing.md. */
const FUZZ_RUNS = Number(process.env['FUZZ_RUNS'] ?? 200);
const keys = relayKeysOf(TOKEN);
const utf8 = (text: string) => Uint8Array.from(Buffer.from(text));

describe('handshake', () => {
  test('a node with a credential becomes ready and is told the limits', () => {
    const { join } = relay();
    expect(join().log).toEqual(['ready until 86400000']);
  });

  test('a node that proves the shared token becomes ready without sending it', () => {
    const { connect } = relay();
    const node = connect(generateKeyPair(), { keys, workspace: workspaceTagOf('w_1') });
    expect(node.log).toEqual(['ready until 86400000']);
    expect(Buffer.concat(node.sent).includes(TOKEN)).toBe(false);
  });

  test.each<[string, (pair: KeyPair) => Uint8Array, string]>([
    ['of another token', (pair) => credentialOf(pair, { token: 'other' }), 'closed bad-credential'],
    ['of another key', () => credentialOf(generateKeyPair()), 'closed bad-credential'],
    ['that has ended', (pair) => credentialOf(pair, { expiresAt: 0 }), 'closed credential-expired'],
  ])('a credential %s is refused', (_, credential, expected) => {
    const pair = generateKeyPair();
    expect(relay().connect(pair, { credential: credential(pair) }).log).toEqual([expected]);
  });

  test('a stolen credential without its private key is refused', () => {
    const owner = generateKeyPair();
    const thief = { publicKey: owner.publicKey, privateKey: generateKeyPair().privateKey };
    expect(relay().connect(thief, { credential: credentialOf(owner) }).log).toEqual(['closed bad-proof']);
  });

  test('a wrong shared token is refused', () => {
    const node = relay().connect(generateKeyPair(), { keys: relayKeysOf('guess'), workspace: workspaceTagOf('w_1') });
    expect(node.log).toEqual(['closed bad-proof']);
  });

  test('a recorded handshake does not open another session', () => {
    const { server, join } = relay();
    const node = join();
    const replay = server.open('10.0.0.9', 0);
    for (const bytes of node.sent) server.receive(replay, Uint8Array.from(bytes), 0);
    expect(replay.closing?.reason).toBe('bad-proof');
  });

  test('a second connection replaces the first, and only after proof', () => {
    const { connect, join, server } = relay();
    const pair = generateKeyPair();
    const first = join(pair);
    const impostor = { publicKey: pair.publicKey, privateKey: generateKeyPair().privateKey };
    connect(impostor, { credential: credentialOf(pair) });
    expect(first.session.state).toBe('ready');
    const second = join(pair);
    first.pump();
    expect([first.log.at(-1), second.session.state, server.metrics().ready]).toEqual(['closed replaced', 'ready', 1]);
  });

  test('two keys with one id in a workspace: the second is refused', () => {
    const { join } = relay({ idOf: () => 5n });
    const first = join();
    expect(join().log).toEqual(['closed collision']);
    expect(first.session.state).toBe('ready');
  });

  test('who has not proven itself in 10 s is closed, however it trickles', () => {
    const { server, deliver } = relay();
    const session = server.open('10.0.0.1', 0);
    const proof = encodeMessage({ type: 'proof', macs: new Uint8Array(MAX_HANDSHAKE_PAYLOAD) });
    for (let at = 0; at < 10; at++) {
      server.receive(session, proof.slice(at, at + 1), at * 1_000);
      server.tick(at * 1_000);
    }
    expect(session.state).toBe('hello');
    server.tick(10_000);
    deliver(session);
    expect(session.closing).toEqual({ reason: 'handshake-timeout', at: 10_000 });
  });

  test('of too many silent connections from one address the oldest go, and are told so', () => {
    const { server } = relay({ limits: { unproven: { total: 9, perHost: 2, perSite: 4 } } });
    const sessions = ['192.0.2.1', '192.0.2.1', '::ffff:192.0.2.1', '192.0.2.2'].map((source) =>
      server.open(source, 0),
    );
    expect(reasonsOf(sessions)).toEqual(['limit', undefined, undefined, undefined]);
  });

  test('thousands of silent connections hold little when all of them are told that they took too long', () => {
    const { server } = relay({ limits: { unproven: { total: 20_000, perHost: 20_000, perSite: 20_000 } } });
    const silent = Array.from({ length: 19_000 }, () => server.open('192.0.2.1', 0));
    server.tick(10_000);
    expect(new Set(reasonsOf(silent))).toEqual(new Set(['handshake-timeout']));
    const held = silent.flatMap(({ outbox }) => outbox.take()).map(({ slab }) => slab.length);
    expect(held.length).toBe(19_000);
    expect(held.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(5_000_000);
  });

  test('a challenge holds as little', () => {
    const { server } = relay();
    const pair = generateKeyPair();
    const session = server.open('192.0.2.1', 0);
    server.receive(session, new RelayClient(pair, { credential: credentialOf(pair) }).start(0), 0);
    expect(session.outbox.take().map(({ slab }) => slab.length)).toEqual([256]);
  });

  test.each<[string, number, (n: number) => string]>([
    ['one IPv6 /64', 1_000, (n) => `2001:db8:1:1::${n.toString(16)}`],
    ['the /64s of one IPv6 /48', 1_000, (n) => `2001:db8:1:${n.toString(16)}::1`],
    ['nearly as many addresses as there are places', 250, (n) => `198.18.${n >> 8}.${n & 255}`],
  ])('strangers from %s keep no node out', (_, count, sourceOf) => {
    const { server, deliver } = relay({ limits: { unproven: { total: 256, perHost: 32, perSite: 64 } } });
    const flood = () => {
      for (let n = 0; n < count; n++) server.open(sourceOf(n), 0);
    };
    flood();
    const pair = generateKeyPair();
    const client = new RelayClient(pair, { credential: credentialOf(pair) });
    const session = server.open('203.0.113.7', 0);
    flood();
    server.receive(session, client.start(0), 0);
    for (let again = 0; again < 10; again++) flood();
    const challenge = Buffer.from(deliver(session)[0]?.slice(3) ?? '', 'hex');
    for (const event of client.receive(challenge, 0))
      if (event.type === 'send') server.receive(session, event.bytes, 0);
    expect(session.state).toBe('ready');
  });

  test('whoever replays an overheard credential pushes out nobody else', () => {
    const { server, connect, join } = relay({ limits: { maxHandshakesPerKey: 2 } });
    const victim = generateKeyPair();
    const hello = new RelayClient(victim, { credential: credentialOf(victim) }).start(0);
    const replays = Array.from({ length: 5 }, (_, n) => server.open(`198.18.0.${n}`, 0));
    for (const session of replays) server.receive(session, Uint8Array.from(hello), 0);
    expect(reasonsOf(replays)).toEqual(['limit', 'limit', 'limit', undefined, undefined]);
    expect(join().session.state).toBe('ready');
    expect(connect(victim, { credential: credentialOf(victim) }).session.state).toBe('ready');
  });

  test('a full relay refuses one node more, and not one that comes again', () => {
    const { join } = relay({ limits: { maxSessions: 2 } });
    const [a] = [join(), join()];
    expect(join().log).toEqual(['closed limit']);
    expect(join(a.pair).session.state).toBe('ready');
  });
});

describe('forwarding', () => {
  test('a packet arrives with the sender stamped by the relay', () => {
    const { join } = relay();
    const [a, b] = [join(), join()];
    a.forward(b, 'hello');
    b.pump();
    expect(b.log.slice(1)).toEqual([`${a.id}: hello`]);
  });

  test.each([
    { flags: 0, arrives: 'one two three, does not take coalesced' },
    { flags: 1, arrives: 'one two three' },
    { flags: 4, arrives: 'one two three by 4' },
    { flags: 13, arrives: 'one two three' },
    { flags: 60_000, arrives: 'one two three' },
  ])('a frame with the flags $flags arrives as "$arrives"', ({ flags, arrives }) => {
    const { join } = relay();
    const [a, b] = [join(), join()];
    a.send(forwardOf(b.id, utf8('one two three'), flags));
    b.pump();
    expect(b.log.slice(1)).toEqual([`${a.id}: ${arrives}`]);
  });

  test('more coalesced packets than Linux takes at once are dropped', () => {
    const { join } = relay();
    const [a, b] = [join(), join()];
    for (const bytes of [129, 128]) a.send(forwardOf(b.id, new Uint8Array(bytes).fill(0x78), 2));
    b.pump();
    expect(b.log.slice(1)).toEqual([`${a.id}: ${'x'.repeat(128)} by 2`]);
  });

  test('nothing crosses from one workspace to another', () => {
    const { join, server } = relay();
    const [a, b] = [join(), join(undefined, 'w_2')];
    a.forward(b, 'hello');
    b.pump();
    expect(b.log.slice(1)).toEqual([]);
    expect(server.metrics().dropped['unknown-peer']).toBe(1);
  });

  test('frames before proof end the session', () => {
    const { server, deliver } = relay();
    const session = server.open('10.0.0.1', 0);
    server.receive(session, forwardOf(1n, utf8('x'), 0), 0);
    deliver(session);
    expect(session.closing?.reason).toBe('protocol');
  });

  test('a receiver that reads nothing holds its cap, loses the rest and delays nobody', () => {
    const { join, server } = relay({ limits: { queueBytes: 10_000 } });
    const [sender, frozen, healthy] = [join(), join(), join()];
    const payload = 'x'.repeat(984);
    for (let n = 0; n < 100; n++) {
      sender.forward(frozen, payload);
      sender.forward(healthy, payload);
      healthy.pump();
    }
    expect(healthy.log.length).toBe(101);
    expect(frozen.session.outbox.queuedBytes).toBeLessThanOrEqual(10_000);
    expect(server.metrics().dropped['queue-full']).toBe(90);
    frozen.pump();
    expect(frozen.log.length).toBe(11);
  });

  test('any mix of receivers, sizes and splits arrives in order and unharmed', () => {
    const sends = fc.array(
      fc.record({ to: fc.nat(2), size: fc.oneof(fc.nat(40), fc.constantFrom(1_452, 9_000, 60_000)) }),
      {
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(sends, fc.array(fc.integer({ min: 1, max: 70_000 }), { maxLength: 6 }), (list, cuts) => {
        const { join, server } = relay({ limits: { queueBytes: 10_000_000 } });
        const [from, ...to] = [join(), join(), join(), join()];
        const expected: string[][] = [[], [], []];
        const frames = list.flatMap((send, n) => {
          const text = `${n}:`.padEnd(send.size, String.fromCharCode(97 + n));
          expected[send.to]?.push(`${from?.id}: ${text}`);
          return [forwardOf(to[send.to]?.id ?? 0n, utf8(text), 1)];
        });
        const stream = Buffer.concat(frames);
        let at = 0;
        for (const cut of [...cuts, stream.length]) {
          if (from) server.receive(from.session, Uint8Array.from(stream.subarray(at, at + cut)), 0);
          at += cut;
          if (cut % 2 === 0) for (const node of to) node.pump();
        }
        for (const node of to) node.pump();
        expect(to.map((node) => node.log.slice(1))).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  test('a packet to oneself or to nobody is dropped and counted', () => {
    const { join, server } = relay();
    const a = join();
    a.forward(a, 'x');
    a.forward({ id: 12345n }, 'x');
    expect(server.metrics().dropped).toEqual({ 'queue-full': 0, 'unknown-peer': 1, 'to-self': 1 });
  });

  test('a probe tells who is here and brings its echo back', () => {
    const { join } = relay();
    const [a, b] = [join(), join()];
    a.send(a.client.probe(b.id, utf8('t1')));
    a.send(a.client.probe(99n, utf8('t2')));
    a.pump();
    expect(a.log.slice(1)).toEqual([`probed ${b.id} true t1`, 'probed 99 false t2']);
  });
});

describe('time', () => {
  test('keepalives keep a session, silence of 45 s ends it on both sides', () => {
    const { join, server } = relay();
    const node = join();
    for (let now = 0; now <= 100_000; now += 1_000) {
      node.apply(node.client.tick(now), now);
      server.tick(now);
      node.pump(now);
    }
    expect(node.session.state).toBe('ready');
    for (let now = 100_000; now <= 145_001; now += 1_000) server.tick(now);
    expect(node.session.closing?.reason).toBe('silent');
    expect(kindsOf(node.client.tick(145_001))).toEqual(['closed silent']);
  });

  test('a clock that jumps ends no session, and silence still does', () => {
    const { join, server } = relay();
    const [quiet, heard] = [join(), join()];
    for (const now of [0, 3_600_000, 60_000]) {
      heard.send(encodeMessage({ type: 'keepalive' }), now);
      server.tick(now);
    }
    expect([quiet.session.state, heard.session.state]).toEqual(['ready', 'ready']);
    for (let now = 61_000; now <= 105_000; now += 1_000) server.tick(now);
    expect([quiet, heard].map(({ session }) => session.closing)).toEqual([
      { reason: 'silent', at: 105_000 },
      { reason: 'silent', at: 105_000 },
    ]);
  });

  test('a session ends with its credential unless a fresh one is presented', () => {
    const { join, server } = relay();
    const [a, b] = [join(), join()];
    const keep = (now: number) => {
      for (const node of [a, b]) node.send(encodeMessage({ type: 'keepalive' }), now);
    };
    b.send(b.client.renew(credentialOf(b.pair, { expiresAt: 2 * DAY_MS })), 1_000);
    keep(DAY_MS - 1);
    server.tick(DAY_MS);
    expect([a.session.closing?.reason, b.session.state]).toEqual(['credential-expired', 'ready']);
    b.pump();
    expect(b.log).toContain(`ready until ${2 * DAY_MS}`);
  });

  test('a fresh credential of another workspace ends the session', () => {
    const { join } = relay();
    const a = join();
    a.send(a.client.renew(credentialOf(a.pair, { workspace: 'w_2' })));
    expect(a.session.closing?.reason).toBe('bad-credential');
  });
});

describe('revocation and restart', () => {
  test('a revoked key is closed at once and cannot come back until its credentials have ended', () => {
    const { join, server } = relay();
    const node = join();
    expect(server.revoke(memberOf(node.pair), DAY_MS, 5)).toBe(1);
    node.pump();
    expect(node.log.at(-1)).toBe('closed revoked');
    expect(join(node.pair).log).toEqual(['closed revoked']);
    server.tick(DAY_MS);
    expect(server.revoke(memberOf(node.pair), 0, DAY_MS)).toBe(0);
  });

  test('a key that is revoked in one workspace goes on in another, and being let into that one helps it nowhere else', () => {
    const { join, server } = relay();
    const pair = generateKeyPair();
    const elsewhere = join(pair, 'w_2');
    server.revoke(memberOf(pair), DAY_MS, 0);
    expect(elsewhere.session.state).toBe('ready');
    server.allow({ ...memberOf(pair), workspace: workspaceTagOf('w_2') });
    expect(join(pair).log).toEqual(['closed revoked']);
    expect(join(pair, 'w_2').session.state).toBe('ready');
  });

  test('a revocation that comes in the middle of a handshake holds', () => {
    const { server, deliver } = relay();
    const pair = generateKeyPair();
    const client = new RelayClient(pair, { credential: credentialOf(pair) });
    const session = server.open('10.0.0.1', 0);
    server.receive(session, client.start(0), 0);
    server.revoke(memberOf(pair), DAY_MS, 0);
    const challenge = deliver(session)[0]?.slice(3) ?? '';
    for (const event of client.receive(Buffer.from(challenge, 'hex'), 0)) {
      if (event.type === 'send') server.receive(session, event.bytes, 0);
    }
    expect(session.closing?.reason).toBe('revoked');
  });

  test('a control plane that proves the shared token pushes revocations', () => {
    const { join, server, deliver } = relay();
    const node = join();
    const session = server.open('10.0.0.2', 0);
    const control = new RelayControl(keys);
    server.receive(session, control.start(), 0);
    const log = exchange(server, session, deliver, control);
    server.receive(session, control.revoke(memberOf(node.pair), DAY_MS), 0);
    expect([...log, ...exchange(server, session, deliver, control)]).toEqual(['ready', 'revoked']);
    expect(node.session.closing?.reason).toBe('revoked');
  });

  test('a control plane with a wrong token is refused', () => {
    const { server, deliver } = relay();
    const session = server.open('10.0.0.2', 0);
    const control = new RelayControl(relayKeysOf('guess'));
    server.receive(session, control.start(), 0);
    expect(exchange(server, session, deliver, control)).toEqual(['closed']);
    expect(session.closing?.reason).toBe('bad-proof');
  });

  test('before a restart every client is told to move, goes on forwarding, and nobody new comes in', () => {
    const { join, server } = relay();
    const [a, b] = [join(), join()];
    server.drain();
    a.forward(b, 'still here');
    b.pump();
    expect(b.log.slice(1)).toEqual(['move', `${a.id}: still here`]);
    expect(server.open('10.0.0.3', 0).closing?.reason).toBe('restart');
  });

  test('a closed socket leaves nothing behind', () => {
    const { join, server } = relay();
    const nodes = [join(), join(undefined, 'w_2')];
    for (const { session } of nodes) server.close(session);
    expect(server.metrics()).toMatchObject({ sessions: 0, ready: 0, queuedBytes: 0 });
  });
});

describe('hostile bytes', () => {
  const corpus = STREAM_CORPUS.map(({ hex }) => Uint8Array.from(Buffer.from(hex, 'hex')));
  const header = fc
    .tuple(fc.nat(12), fc.nat(3), fc.nat(300), fc.uint8Array({ maxLength: 300 }))
    .map(([type, flags, length, rest]) =>
      Uint8Array.from([1, type, 0, flags, 0, 0, length >> 8, length & 255, ...rest]),
    );
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 400 }), header, fc.constantFrom(...corpus));

  test('in no state does any input throw, grow the queue or disturb others', () => {
    fc.assert(
      fc.property(fc.constantFrom('hello', 'proof', 'ready'), fc.array(bytes, { maxLength: 5 }), (state, chunks) => {
        const { join, server } = relay();
        const [a, b] = [join(), join()];
        const session = state === 'ready' ? join().session : server.open('10.6.6.6', 0);
        if (state === 'proof') {
          const pair = generateKeyPair();
          const hello = { mode: 'credential', publicKey: pair.publicKey, credential: credentialOf(pair) } as const;
          server.receive(session, encodeMessage({ type: 'hello', hello }), 0);
        }
        for (const chunk of chunks) server.receive(session, Uint8Array.from(chunk), 0);
        server.tick(1);
        expect(session.outbox.queuedBytes).toBeLessThanOrEqual(server.limits.queueBytes + 64);
        a.forward(b, 'fine');
        b.pump();
        expect(b.log.at(-1)).toBe(`${a.id}: fine`);
      }),
      { numRuns: FUZZ_RUNS },
    );
  });

  test('a client and a control plane survive any bytes of a relay', () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 5 }), (chunks) => {
        const pair = generateKeyPair();
        const client = new RelayClient(pair, { credential: credentialOf(pair) });
        client.start(0);
        const control = new RelayControl(keys);
        for (const chunk of chunks) {
          client.receive(Uint8Array.from(chunk), 0);
          control.receive(Uint8Array.from(chunk));
        }
        client.tick(1);
      }),
      { numRuns: FUZZ_RUNS },
    );
  });
});

/** With any flags, also those that no node of ours sends. */
function forwardOf(peer: bigint, packets: Uint8Array, flags: number): Uint8Array {
  const frame = encodeMessage({ type: 'forward', peer, packets, segment: 0, takesCoalesced: false });
  writeHeader(viewOf(frame), 0, { type: 5, flags, peer }, packets.length);
  return frame;
}

function credentialOf(
  { publicKey }: KeyPair,
  { token = TOKEN, workspace = 'w_1', expiresAt = DAY_MS } = {},
): Uint8Array {
  const grant = { workspace: workspaceTagOf(workspace), publicKey, expiresAt };
  return decodeCredential(mintCredential(relayKeysOf(token), grant)) ?? new Uint8Array();
}

/** A relay and nodes that talk to it without sockets. `pump` is a node that reads; without it a node is frozen. */
function relay({ limits = {}, idOf }: { limits?: Partial<RelayLimits>; idOf?: () => bigint } = {}) {
  const server = new RelayServer({
    keys,
    keyPair: generateKeyPair(),
    random: (bytes) => generateKeyPair().publicKey.subarray(0, bytes),
    limits,
    ...(idOf && { idOf }),
  });

  const deliver = (session: RelaySession) => {
    const pieces = session.outbox.take();
    const frames = pieces.map(({ bytes }) => Buffer.from(bytes));
    session.outbox.written();
    return frames.map((frame) => `${frame.subarray(1, 2).toString('hex')} ${frame.toString('hex')}`);
  };

  const connect = (pair: KeyPair, right: ConstructorParameters<typeof RelayClient>[1]) => {
    const client = new RelayClient(pair, right);
    const session = server.open('10.0.0.1', 0);
    const node = {
      pair,
      client,
      session,
      id: peerIdOf(pair.publicKey),
      log: [] as string[],
      sent: [] as Uint8Array[],
      send(bytes: Uint8Array, now = 0) {
        node.sent.push(Uint8Array.from(bytes));
        server.receive(session, bytes, now);
      },
      forward(to: { readonly id: bigint }, text: string) {
        const frame = client.forward(to.id, utf8(text));
        if (frame) node.send(frame);
      },
      apply(events: readonly RelayClientEvent[], now = 0) {
        for (const event of events) {
          if (event.type === 'send') node.send(event.bytes, now);
          else node.log.push(describeEvent(event));
        }
      },
      pump(now = 0) {
        for (;;) {
          const pieces = session.outbox.take();
          if (pieces.length === 0) return;
          const bytes = pieces.map((piece) => Uint8Array.from(piece.bytes));
          session.outbox.written();
          for (const chunk of bytes) node.apply(client.receive(chunk, now), now);
        }
      },
    };
    node.send(client.start(0));
    node.pump();
    return node;
  };

  const join = (pair = generateKeyPair(), workspace = 'w_1') =>
    connect(pair, { credential: credentialOf(pair, { workspace }) });
  return { server, connect, join, deliver };
}

const memberOf = ({ publicKey }: KeyPair) => ({ workspace: workspaceTagOf('w_1'), publicKey });

function reasonsOf(sessions: readonly RelaySession[]): (string | undefined)[] {
  return sessions.map(({ closing }) => closing?.reason);
}

function exchange(
  server: RelayServer,
  session: RelaySession,
  deliver: (session: RelaySession) => readonly string[],
  control: RelayControl,
): string[] {
  const log: string[] = [];
  for (;;) {
    const frames = deliver(session);
    if (frames.length === 0) return log;
    for (const frame of frames) {
      for (const event of control.receive(Buffer.from(frame.slice(3), 'hex'))) {
        if (event.type === 'send') server.receive(session, event.bytes, 0);
        else log.push(event.type);
      }
    }
  }
}

function kindsOf(events: readonly RelayClientEvent[]): string[] {
  return events.map((event) => (event.type === 'send' ? 'send' : describeEvent(event)));
}

function describeEvent(event: Exclude<RelayClientEvent, { type: 'send' }>): string {
  switch (event.type) {
    case 'ready':
      return `ready until ${event.expiresAt}`;
    case 'forward': {
      const segment = event.segment > 0 ? ` by ${event.segment}` : '';
      const note = event.takesCoalesced ? '' : ', does not take coalesced';
      return `${event.peer}: ${Buffer.from(event.packets).toString()}${segment}${note}`;
    }
    case 'probe-reply':
      return `probed ${event.peer} ${event.isPresent} ${Buffer.from(event.echo).toString()}`;
    case 'move':
      return 'move';
    case 'closed':
      return `closed ${event.reason}`;
    default:
      return event satisfies never;
  }
}
