import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../../tunnel/tunnel.ts';
import { priorityOf } from './candidate.ts';
import { decodeIce, encodeCheck, encodeSuccess, type IceCredentials, type IceRole } from './check-message.ts';
import { Pacer } from './pacer.ts';
import { MAX_REMOTES } from './remotes.ts';
import { IceSession } from './session.ts';

const A = { address: '192.0.2.1', port: 51_820 };
const B = { address: '192.0.2.2', port: 51_820 };
const PEER = { ufrag: 'peer', pwd: 'password-of-the-peer-22' };

describe('a session', () => {
  test('two of them find each other, and both open', () => {
    const [one, two] = [side('controlling', A), side('controlled', B)];
    connect(one, two);
    const end = play([one, two], 0, 2_000);
    expect([one.session.selected, two.session.selected]).toMatchObject([B, A]);
    expect([one.events, two.events, end < 1_000]).toEqual([['opened'], ['opened'], true]);
  });

  test.each(['controlling', 'controlled'] as const)(
    'two that both think they are %s agree by the tie breaker',
    (role) => {
      const [one, two] = [side(role, A, 5n), side(role, B, 9n)];
      connect(one, two);
      play([one, two], 0, 3_000);
      expect([one.events, two.events]).toEqual([['opened'], ['opened']]);
    },
  );

  test('an answer from another address proves nothing', () => {
    const { session, sent } = asking();
    const { transactionId } = checkOf(sent[0]?.bytes);
    const answer = encodeSuccess(transactionId, A, PEER.pwd) ?? new Uint8Array();
    const message = decodeIce(answer);
    if (!message) throw new Error('no message');
    expect(session.receive(message, answer, { ...B, port: 1 }, 10)).toBe('answer-from-elsewhere');
    expect(session.receive(message, answer, B, 10)).toBeUndefined();
    expect(session.receive(message, answer, B, 10)).toBe('unknown-answer');
  });

  test('an answer signed by someone else is ignored', () => {
    const { session, sent } = asking();
    const { transactionId } = checkOf(sent[0]?.bytes);
    const answer = encodeSuccess(transactionId, A, 'password-of-someone-else') ?? new Uint8Array();
    const message = decodeIce(answer);
    expect(message && session.receive(message, answer, B, 10)).toBe('unsigned-answer');
  });

  test('a try without a path ends, and says so once', () => {
    const one = asking();
    play([one], 1, 30_000);
    expect(one.events).toEqual(['exhausted']);
    expect(one.sent.length).toBeLessThanOrEqual(8);
    expect(one.session.deadline).toBe(Infinity);
  });

  test('a late answer to an earlier check does not end the checks that nominate: the try ends', () => {
    const one = asking();
    const late = one.sent[0]?.bytes;
    for (const at of [200, 210]) {
      one.session.tick(at);
      answer(one, one.sent.at(-1)?.bytes, at);
    }
    one.session.tick(220);
    expect(checkOf(one.sent.at(-1)?.bytes).isNominating).toBe(true);
    answer(one, late, 230);
    play([one], 240, 30_000);
    expect([one.events, one.session.isTrying]).toEqual([['exhausted'], false]);
  });

  test('checks from a thousand addresses leave two dozen behind', () => {
    const one = side('controlled', A);
    one.session.setRemote(PEER);
    for (let n = 0; n < 1_000; n++) {
      const check = checkFrom(PEER, one.session);
      const message = decodeIce(check);
      if (message) one.session.receive(message, check, { address: `198.51.${n >> 8}.${n & 255}`, port: 7 }, n);
    }
    expect(one.session.tried.addresses.length).toBe(MAX_REMOTES);
    play([one], 1_000, 60_000);
    expect(one.session.deadline).toBe(Infinity);
  });

  test('a check of an earlier session of the peer is stale', () => {
    const one = side('controlled', A);
    one.session.setRemote(PEER);
    const check = checkFrom({ ...PEER, ufrag: 'past' }, one.session);
    const message = decodeIce(check);
    expect(message && one.session.receive(message, check, B, 0)).toBe('stale-check');
    expect(one.sent).toEqual([]);
  });
});

interface Side {
  readonly session: IceSession;
  readonly at: Endpoint;
  readonly sent: { readonly to: Endpoint; readonly bytes: Uint8Array }[];
  readonly events: string[];
}

let numbers = 1;

function side(role: IceRole, at: Endpoint, tieBreaker = 1n): Side {
  const sent: Side['sent'] = [];
  const events: string[] = [];
  const number = numbers++;
  let drawn = 0;
  const session = new IceSession({
    number,
    role,
    local: { ufrag: `frag${number}`, pwd: `password-of-at-least-22-${number}` },
    tieBreaker,
    random: (bytes) => new Uint8Array(bytes).fill(drawn++),
    pacer: new Pacer(1_000, 100),
    consentInterval: () => 200,
    hasOtherPath: () => true,
    isUsable: () => true,
    events: {
      send: ({ address, port }, bytes) => sent.push({ to: { address, port }, bytes }),
      opened: () => events.push('opened'),
      lost: (_now, cause) => events.push(`lost: ${cause}`),
      undersized: (foundBy) => events.push(`undersized: ${foundBy}`),
      exhausted: () => events.push('exhausted'),
    },
  });
  return { session, at, sent, events };
}

function connect(one: Side, two: Side): void {
  for (const [here, there] of [
    [one, two],
    [two, one],
  ] as const) {
    here.session.setRemote(there.session.local);
    here.session.addCandidate({ ...there.at, type: 'host', priority: priorityOf('host', there.at.address) }, 0);
    here.session.try(0);
  }
}

/** A controlling side that has just sent its first check to B. */
function asking(): Side {
  const one = side('controlling', A);
  one.session.setRemote(PEER);
  one.session.addCandidate({ ...B, type: 'host', priority: priorityOf('host', B.address) }, 0);
  one.session.try(0);
  one.session.tick(0);
  return one;
}

/** The peer answers a check. */
function answer({ session }: Side, bytes: Uint8Array | undefined, now: number): void {
  const success = encodeSuccess(checkOf(bytes).transactionId, A, PEER.pwd);
  const message = success && decodeIce(success);
  if (success && message) session.receive(message, success, B, now);
}

/** Lets time pass, every datagram arriving after 10 ms. @returns when all had opened */
function play(sides: readonly Side[], from: number, to: number): number {
  let opened = to;
  for (let now = from; now <= to; now += 10) {
    const flying = sides.flatMap(({ at, sent }) =>
      (sides.length > 1 ? sent.splice(0) : []).map((each) => ({ at, ...each })),
    );
    for (const { at, to: target, bytes } of flying) {
      const receiver = sides.find((each) => each.at.address === target.address && each.at.port === target.port);
      const message = decodeIce(bytes);
      if (message) receiver?.session.receive(message, bytes, at, now);
    }
    for (const { session } of sides) if (session.deadline <= now) session.tick(now);
    if (opened === to && sides.every(({ events }) => events.includes('opened'))) opened = now;
  }
  return opened;
}

/** A check that the holder of these credentials makes of a session's node. */
function checkFrom(local: IceCredentials, { local: remote }: IceSession): Uint8Array {
  return encodeCheck({
    transactionId: new Uint8Array(12),
    local,
    remote,
    priority: 1,
    role: 'controlling',
    tieBreaker: 0n,
    isNominating: false,
  });
}

function checkOf(bytes: Uint8Array | undefined) {
  const message = bytes && decodeIce(bytes);
  if (message?.kind !== 'check') throw new Error('no check');
  return message;
}
