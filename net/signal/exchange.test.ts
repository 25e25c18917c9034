import { describe, expect, test } from 'vitest';
import { Opener } from '../seal/opener.ts';
import { Sealer } from '../seal/sealer.ts';
import { generateKeyPair, type KeyPair } from '../seal/x25519.ts';
import { initiates, type SealedSignal, SignalExchange, type SignalOutcome, SYN_INTERVAL_MS } from './exchange.ts';

const OFFER = {
  kind: 'OFFER',
  ufrag: 'evtj',
  pwd: 'VOkJxbRl1RmTxUk/WvJxBt',
  tieBreaker: 7n,
  firstCheck: 'offerer',
} as const;

describe('signal exchange', () => {
  test('after SYN and ACK each side takes the messages of the other', () => {
    const { a, b, run } = twoNodes();
    expect(run(a.exchange.syn(b.key, 0))).toEqual(['b: syn new', 'a: syn new', 'a: ready new', 'b: ready new']);
    expect(run(a.exchange.send(b.key, OFFER))).toEqual(['b: OFFER']);
    expect(run(b.exchange.send(a.key, { kind: 'PING' }))).toEqual(['a: PING']);
  });

  test('an OFFER of an unproven process is not delivered, but starts the proof', () => {
    const { a, b, run } = twoNodes();
    const log = run(a.exchange.send(b.key, OFFER));
    expect(log).toEqual(['b: unproven', 'a: syn new', 'b: syn new', 'b: ready new', 'a: ready new']);
    expect(run(a.exchange.send(b.key, OFFER))).toEqual(['b: OFFER']);
  });

  test('a recording of an earlier process delivers nothing and never becomes proven', () => {
    const { a, b, run } = twoNodes();
    const recorded: SealedSignal[] = [];
    run(a.exchange.syn(b.key, 0), recorded);
    run(a.exchange.send(b.key, OFFER), recorded);
    a.restart();
    run(a.exchange.syn(b.key, 60_000), [], 60_000);
    const toB = recorded.filter((signal) => Buffer.compare(signal.to, b.key) === 0);
    const replay = () => toB.map((signal) => outcome(b.exchange.receive(signal.subject, signal.payload, 120_000)));
    expect(replay()).toEqual(['replayed', 'replayed', 'replayed']);
    expect(run(a.exchange.send(b.key, OFFER), [], 120_000)).toEqual(['b: OFFER']);
    // A process of the receiver that never heard the recorded one.
    b.restart();
    expect(replay()).toEqual(['syn new', 'stale-echo', 'unproven']);
  });

  test('3,000 replays of the SYNs of six former processes are answered as often as six SYNs, and a restart at once', () => {
    const { a, b, run } = twoNodes();
    const recorded = Array.from({ length: 6 }, () => {
      a.restart();
      return a.exchange.syn(b.key, 0);
    }).flat();
    a.restart();
    const answers = replayed(recorded, b, { times: 500, everyMs: 4 });
    expect(answers.filter((answer) => answer !== 'SYN').length).toBe(6);
    expect(answers.length).toBeLessThanOrEqual(12);
    const now = 2_000;
    expect(run(a.exchange.syn(b.key, now), [], now)).toContain('a: ready new');
  });

  test('whatever is replayed, answers stay few and a restarted peer is met within seconds', () => {
    const { a, b, run } = twoNodes();
    // More processes than anyone remembers.
    const recorded = Array.from({ length: 100 }, () => {
      a.restart();
      return a.exchange.syn(b.key, 0);
    }).flat();
    const answers = replayed(recorded, b, { times: 50, everyMs: 10 });
    // 50 s: two SYNs and two ACKs a second, and eight ACKs at once.
    expect(answers.length).toBeLessThanOrEqual(4 * 50 + 10);
    a.restart();
    const log: string[] = [];
    for (let now = 50_000; now < 53_000 && !log.includes('a: ready new'); now += 500) {
      log.push(...run(replayFrom(recorded, now), [], now), ...run(a.exchange.syn(b.key, now), [], now));
    }
    expect(log).toContain('a: ready new');
    expect(log).toContain('b: ready new');
    expect(run(a.exchange.send(b.key, OFFER), [], 53_000)).toContain('b: OFFER');
  });

  test('replays of former processes use up nothing of the living one', () => {
    const { a, b, run } = twoNodes();
    const recorded = Array.from({ length: 100 }, () => {
      a.restart();
      return a.exchange.syn(b.key, 0);
    }).flat();
    a.restart();
    run(a.exchange.syn(b.key, 0));
    replayed(recorded, b, { times: 1, everyMs: 0 });
    expect(run(a.exchange.syn(b.key, 600), [], 600)).toEqual(['b: syn same', 'a: ready same']);
  });

  test('a repetition within the living process is dropped', () => {
    const { a, b, run } = twoNodes();
    run(a.exchange.syn(b.key, 0));
    const offer = a.exchange.send(b.key, OFFER);
    expect([...run(offer), ...run(offer)]).toEqual(['b: OFFER', 'b: replayed']);
  });

  test('messages that overtake each other are all delivered', () => {
    const { a, b, run } = twoNodes();
    run(a.exchange.syn(b.key, 0));
    const sent = ['1', '2', '3'].flatMap((candidate) => a.exchange.send(b.key, { kind: 'CANDIDATE', candidate }));
    expect(run(sent.toReversed())).toEqual(['b: CANDIDATE', 'b: CANDIDATE', 'b: CANDIDATE']);
  });

  test('a peer that restarted proves itself again and the other side hears of it', () => {
    const { a, b, run } = twoNodes();
    run(a.exchange.syn(b.key, 0));
    b.restart();
    expect(run(b.exchange.syn(a.key, 5_000), [], 5_000)).toEqual([
      'a: syn new',
      'b: syn new',
      'b: ready new',
      'a: ready new',
    ]);
    expect(run(a.exchange.send(b.key, OFFER), [], 5_000)).toEqual(['b: OFFER']);
  });

  test('a lost SYN or ACK only delays: the next SYN completes the proof', () => {
    const { a, b, run } = twoNodes();
    const [lost] = a.exchange.syn(b.key, 0);
    expect(lost?.subject).toBe('mesh.w.b.signal');
    expect(a.exchange.syn(b.key, SYN_INTERVAL_MS - 1)).toEqual([]);
    run(a.exchange.syn(b.key, SYN_INTERVAL_MS), [], SYN_INTERVAL_MS);
    expect(run(a.exchange.send(b.key, OFFER), [], SYN_INTERVAL_MS)).toEqual(['b: OFFER']);
  });

  test('clocks that differ by years change nothing', () => {
    const { a, b, run } = twoNodes({ skewOfB: 5e11 });
    run(a.exchange.syn(b.key, 0));
    expect(run(a.exchange.send(b.key, OFFER))).toEqual(['b: OFFER']);
  });

  test('a key outside the graph is neither heard nor spoken to', () => {
    const { a, b, run } = twoNodes();
    const stranger = node(generateKeyPair(), 'c', (key) => (Buffer.compare(key, b.key) === 0 ? 'b' : undefined));
    expect(run(stranger.exchange.syn(b.key, 0))).toEqual(['b: stranger']);
    expect(a.exchange.send(stranger.key, OFFER)).toEqual([]);
  });

  test('of two nodes exactly one initiates', () => {
    const { a, b } = twoNodes();
    expect(initiates(a.key, b.key)).toBe(!initiates(b.key, a.key));
  });
});

function node(keys: KeyPair, name: string, nameOf: (key: Uint8Array) => string | undefined) {
  const subjectOf = (key: Uint8Array) => {
    const peer = nameOf(key);
    return peer === undefined ? undefined : `mesh.w.${peer}.signal`;
  };
  const build = () =>
    new SignalExchange({
      sealer: new Sealer(keys, generateKeyPair().publicKey.subarray(0, 16)),
      opener: new Opener(keys, (key) => nameOf(key) !== undefined),
      subjectOf,
      random: (bytes) => generateKeyPair().publicKey.subarray(0, bytes),
    });
  const self = {
    name,
    key: keys.publicKey,
    exchange: build(),
    restart() {
      self.exchange = build();
    },
  };
  return self;
}

/** Two nodes on an ordered bus; `run` delivers until nothing moves and tells what each heard. */
function twoNodes({ skewOfB = 0 } = {}) {
  const names = new Map<string, 'a' | 'b'>();
  const nameOf = (key: Uint8Array) => names.get(Buffer.from(key).toString('hex'));
  const [aKeys, bKeys] = [generateKeyPair(), generateKeyPair()];
  names.set(Buffer.from(aKeys.publicKey).toString('hex'), 'a').set(Buffer.from(bKeys.publicKey).toString('hex'), 'b');
  const a = node(aKeys, 'a', nameOf);
  const b = node(bKeys, 'b', nameOf);
  const run = (signals: readonly SealedSignal[], recorded: SealedSignal[] = [], now = 0) => {
    const queue = [...signals];
    const log: string[] = [];
    for (let signal = queue.shift(); signal !== undefined; signal = queue.shift()) {
      recorded.push(signal);
      const receiver = nameOf(signal.to) === 'a' ? a : b;
      const result = receiver.exchange.receive(signal.subject, signal.payload, receiver === b ? now + skewOfB : now);
      queue.push(...result.send);
      log.push(`${receiver.name}: ${outcome(result)}`);
    }
    return log;
  };
  return { a, b, run };
}

/** What the receiver answers while all recordings come again and again. @returns kinds of messages */
function replayed(
  recorded: readonly SealedSignal[],
  { exchange }: Pick<ReturnType<typeof node>, 'exchange'>,
  { times, everyMs }: { times: number; everyMs: number },
): ('SYN' | 'ACK')[] {
  const answers: ('SYN' | 'ACK')[] = [];
  for (let n = 0; n < times * recorded.length; n++) {
    const signal = recorded[n % recorded.length];
    if (!signal) continue;
    const { send, event } = exchange.receive(signal.subject, signal.payload, n * everyMs);
    // An ACK goes with the event, a SYN perhaps before it.
    const acks = event ? 1 : 0;
    answers.push(...send.slice(acks).map(() => 'SYN' as const), ...send.slice(0, acks).map(() => 'ACK' as const));
  }
  return answers;
}

/** Some of the recordings, others each time. */
function replayFrom(recorded: readonly SealedSignal[], now: number): readonly SealedSignal[] {
  return Array.from({ length: 50 }, (_, n) => recorded[(now + n) % recorded.length]).filter((signal) => !!signal);
}

function outcome({ deliver, event, dropped }: SignalOutcome): string {
  if (event) return `${event.type} ${event.newProcess ? 'new' : 'same'}`;
  return deliver?.message.kind ?? dropped ?? 'nothing';
}
