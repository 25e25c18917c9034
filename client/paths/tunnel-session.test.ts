import { describe, expect, test } from 'vitest';
import { TunnelSession } from './tunnel-session.ts';

const NEVER = { handshakeAt: null, receivedBytes: 0 };
const OLD = { handshakeAt: 5, receivedBytes: 10_000 };

describe('two tunnels without a session', () => {
  test('one side begins at once, and the other when nothing came of it', () => {
    const [first, second] = [fresh(true), fresh(false)];
    for (const session of [first, second]) session.opened(0);
    expect([first.deadline, second.deadline]).toEqual([0, 250]);
    expect([due(first, NEVER, 0), due(second, NEVER, 250)]).toEqual(['begin', 'begin']);
  });

  test('the side that waits holds back a handshake of its own, until it begins itself', () => {
    const [first, second] = [fresh(true), fresh(false)];
    for (const session of [first, second]) session.opened(0);
    expect([first.isYielding, second.isYielding]).toEqual([false, true]);
    due(second, NEVER, 250);
    expect(second.isYielding).toBe(false);
  });

  test('what leads nowhere is begun again, ever later, and never by both at once', () => {
    const times = (session: TunnelSession) => {
      session.opened(0);
      const at: number[] = [];
      while (session.deadline < Number.POSITIVE_INFINITY) {
        at.push(session.deadline);
        due(session, NEVER, session.deadline);
      }
      return at;
    };
    expect([times(fresh(true)), times(fresh(false))]).toEqual([
      [0, 1_000, 3_000, 7_000],
      [250, 1_500, 3_750, 8_000],
    ]);
  });
});

describe('a session', () => {
  test('is proven by a handshake that was finished, and nothing more is begun', () => {
    const session = fresh(true);
    session.opened(0);
    expect(session.isProven).toBe(false);
    expect(session.looked({ handshakeAt: 7, receivedBytes: 92 }, 40)).toBeUndefined();
    expect([session.isProven, session.deadline]).toEqual([true, Infinity]);
  });

  test('with a peer that starts anew is void, and is renewed when no handshake of the peer comes', () => {
    const session = inUse();
    session.restarted(1_000);
    expect(session.looked(OLD, 1_001)).toBeUndefined();
    expect([session.isProven, session.deadline]).toEqual([false, 1_600]);
    expect(due(session, OLD, 1_600)).toBe('renew');
    expect(session.isProven).toBe(false);
    session.looked({ handshakeAt: 9, receivedBytes: 92 }, 1_640);
    expect(session.isProven).toBe(true);
  });

  test('with a peer that starts anew is left to the handshake that the peer begins', () => {
    const session = inUse();
    session.restarted(1_000);
    session.looked(OLD, 1_001);
    session.looked({ handshakeAt: 9, receivedBytes: 10_148 }, 1_300);
    expect([session.isProven, session.deadline]).toEqual([true, Infinity]);
  });

  test('goes on without a cut where the tunnel of the peer outlived its process', () => {
    const session = inUse();
    session.restarted(1_000);
    session.looked(OLD, 1_001);
    expect(due(session, { ...OLD, receivedBytes: 12_000 }, 1_600)).toBeUndefined();
    expect([session.isProven, session.deadline]).toEqual([true, Infinity]);
  });

  test('is not taken for proven by the messages of a handshake alone', () => {
    const session = inUse();
    session.restarted(1_000);
    session.looked(OLD, 1_001);
    expect(due(session, { ...OLD, receivedBytes: 10_148 }, 1_600)).toBe('renew');
  });

  test('is begun only while there is a path', () => {
    const session = fresh(true);
    expect(session.deadline).toBe(Infinity);
    session.opened(0);
    session.closed();
    expect(session.deadline).toBe(Infinity);
    session.opened(500);
    expect(due(session, NEVER, 500)).toBe('begin');
  });
});

function fresh(isFirst: boolean): TunnelSession {
  const session = new TunnelSession(isFirst);
  session.looked(NEVER, 0);
  return session;
}

function inUse(): TunnelSession {
  const session = fresh(true);
  session.opened(0);
  session.looked(OLD, 10);
  return session;
}

/** As when its time has come: the tunnel is asked how it is, and says so. */
function due(session: TunnelSession, facts: typeof OLD | typeof NEVER, now: number) {
  expect(session.tick(now)).toBe(true);
  expect(session.tick(now)).toBe(false);
  return session.looked(facts, now);
}
