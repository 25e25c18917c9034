import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PeerRoutes } from './peer-routes.ts';

const PEER = 'peer';
const costs = (of: Readonly<Record<string, number>>) => new Map(Object.entries(of));

function routes(own: Readonly<Record<string, number>>, key = 'own') {
  const made = new PeerRoutes(key);
  made.use(costs({ main: 1, eu: 1, us: 1 }));
  made.useCosts(costs(own));
  return made;
}

describe('the route of a peer', () => {
  test('a peer that says nothing of relays is at the first, which all nodes know', () => {
    const own = routes({ main: 90, eu: 10 });
    expect(own.routeOf(PEER)).toBeUndefined();
    for (const name of ['main', 'eu']) own.setReady(name, true);
    expect([own.routeOf(PEER), [...own.wanted()]]).toEqual(['main', []]);
  });

  test('the relay of the pair carries its packets once it is known to have the peer', () => {
    const own = routes({ main: 90, eu: 10 });
    for (const name of ['main', 'eu']) own.setReady(name, true);
    own.answered(PEER, 'main', true);
    own.peerCosts(PEER, costs({ main: 90, eu: 10 }), 0);
    expect([own.routeOf(PEER), own.questions(0)]).toEqual(['main', [{ publicKey: PEER, name: 'eu' }]]);
    own.asked(PEER, 'eu', 0);
    expect([own.questions(999), own.questions(1_000).length]).toEqual([[], 1]);
    own.answered(PEER, 'eu', true);
    expect([own.routeOf(PEER), own.questions(9_999)]).toEqual(['eu', []]);
  });

  test('the next relay takes over the moment that a session ends', () => {
    const own = routes({ main: 90, eu: 10 });
    for (const name of ['main', 'eu']) {
      own.setReady(name, true);
      own.answered(PEER, name, true);
    }
    own.peerCosts(PEER, costs({ main: 90, eu: 10 }), 0);
    expect(own.routeOf(PEER)).toBe('eu');
    own.setReady('eu', false);
    expect(own.routeOf(PEER)).toBe('main');
  });

  test('a peer that is heard by another relay makes this end ask whether the first still has it', () => {
    const own = routes({ main: 90, eu: 10 });
    for (const name of ['main', 'eu']) own.setReady(name, true);
    own.peerCosts(PEER, costs({ main: 90, eu: 10 }), 0);
    own.answered(PEER, 'eu', true);
    expect(own.heard(PEER, 'main', 0)).toBe('eu');
    own.asked(PEER, 'eu', 0);
    expect(own.heard(PEER, 'main', 10)).toBeUndefined();
    expect(own.answered(PEER, 'eu', false)).toBe(true);
    expect(own.routeOf(PEER)).toBe('main');
    expect(own.heard(PEER, 'main', 20)).toBeUndefined();
  });

  test('whether a peer is at any relay is known once all have answered', () => {
    const own = routes({ main: 90, eu: 10 });
    for (const name of ['main', 'eu']) own.setReady(name, true);
    expect(own.answered(PEER, 'main', false)).toBeUndefined();
    expect(own.answered(PEER, 'eu', false)).toBe(false);
    expect(own.answered(PEER, 'eu', true)).toBe(true);
  });

  test('of a peer that says something else again and again the last word counts, once a second', () => {
    const own = routes({ main: 50, eu: 50, us: 50 });
    const said = (name: string) => costs({ [name]: 1 });
    expect(['main', 'eu', 'us', 'eu'].map((name, at) => own.peerCosts(PEER, said(name), at))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    own.tick(999);
    expect([...own.wanted()]).toEqual(['main', 'eu']);
    for (const name of ['main', 'eu', 'us']) own.setReady(name, true);
    expect(own.routeOf(PEER)).toBe('main');
    own.tick(1_000);
    expect(own.routeOf(PEER)).toBe('eu');
    own.tick(1_001);
    expect(own.peerCosts(PEER, said('us'), 2_000)).toBe(true);
    expect(own.routeOf(PEER)).toBe('us');
  });

  test('a relay is wanted as long as a pair is left whose first ones it is of', () => {
    const own = routes({ main: 50, eu: 50, us: 50 });
    const wanted = () => [...own.wanted()].sort();
    own.keep(new Set(['a', 'b', 'c']));
    own.peerCosts('a', costs({ eu: 1 }), 0);
    own.peerCosts('b', costs({ us: 1, eu: 60 }), 0);
    expect(wanted()).toEqual(['eu', 'main', 'us']);
    own.peerCosts('a', costs({ eu: 1, us: 60 }), 1_000);
    expect(wanted()).toEqual(['eu', 'us']);
    own.useCosts(costs({ eu: 50 }));
    expect(wanted()).toEqual(['eu', 'main']);
    own.keep(new Set(['a', 'c']));
    expect(wanted()).toEqual(['eu', 'main']);
    own.keep(new Set(['c']));
    expect(wanted()).toEqual([]);
  });

  test('peers that left the graph are forgotten, and what each relay carries is counted', () => {
    const own = routes({ eu: 10 });
    own.setReady('eu', true);
    own.keep(new Set(['a', 'b']));
    expect(own.counts()).toEqual(costs({ eu: 2 }));
    own.keep(new Set(['b']));
    expect([...own.publicKeys]).toEqual(['b']);
  });
});

test('once news and answers have arrived, both ends use one relay, and it is one that both have a session with', () => {
  const names = ['main', 'eu', 'us'] as const;
  const node = fc.record({ main: fc.nat(300), eu: fc.nat(300), us: fc.nat(300), up: fc.subarray([...names]) });
  fc.assert(
    fc.property(node, node, (one, two) => {
      const ends = { one, two };
      const saidBy = ({ up, ...all }: typeof one) => costs(Object.fromEntries(up.map((name) => [name, all[name]])));
      const made = { one: routes({}, 'one'), two: routes({}, 'two') };
      for (const [own, other] of [
        ['one', 'two'],
        ['two', 'one'],
      ] as const) {
        made[own].useCosts(saidBy(ends[own]));
        made[own].peerCosts(other, saidBy(ends[other]), 0);
        for (const name of ends[own].up) {
          made[own].setReady(name, true);
          made[own].answered(other, name, ends[other].up.includes(name));
        }
      }
      const shared = names.filter((name) => one.up.includes(name) && two.up.includes(name));
      if (shared.length === 0) return;
      const route = made.one.routeOf('two');
      expect(made.two.routeOf('one')).toBe(route);
      expect(shared).toContain(route);
    }),
  );
});
