import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeEnvelope, encodeEnvelope } from './signal-envelope.ts';
import { type Obstruction, type SimulatedNode, Simulation, type SimulationOptions } from './simulation.testkit.ts';

/** Where two kinds of network lead: `either` where it depends on who happens to send first. */
const GRID: Readonly<Record<Obstruction, Readonly<Record<Obstruction, 'direct' | 'relayed' | 'either'>>>> = {
  none: { none: 'direct', firewall: 'direct', easy: 'direct', hard: 'direct', open: 'direct' },
  firewall: { none: 'direct', firewall: 'direct', easy: 'direct', hard: 'relayed', open: 'direct' },
  easy: { none: 'direct', firewall: 'direct', easy: 'direct', hard: 'relayed', open: 'direct' },
  hard: { none: 'direct', firewall: 'relayed', easy: 'relayed', hard: 'relayed', open: 'relayed' },
  open: { none: 'direct', firewall: 'direct', easy: 'direct', hard: 'relayed', open: 'either' },
};
const KINDS = Object.keys(GRID) as Obstruction[];

describe('two nodes', { timeout: 60_000 }, () => {
  test.each(KINDS.flatMap((a) => KINDS.map((b) => [a, b, GRID[a][b]] as const)))(
    '%s and %s end %s',
    (a, b, expected) => {
      const { simulation, one, two } = pair(a, b);
      simulation.run(180_000);
      const found = [simulation.status(one, two).path, simulation.status(two, one).path];
      if (expected === 'either') expect(found[0]).toBe(found[1]);
      else expect(found).toEqual([expected, expected]);
    },
  );

  test('two behind one router take the path inside, whatever the router does', () => {
    const simulation = new Simulation({ seed: 3 });
    const [one, two] = [simulation.add('one', 'hard', 'home'), simulation.add('two', 'hard', 'home')];
    for (const node of [one, two]) simulation.start(node);
    simulation.run(2_000);
    expect(simulation.status(one, two)).toMatchObject({ path: 'direct', endpoint: two.inside });
    expect(simulation.status(two, one)).toMatchObject({ path: 'direct', endpoint: one.inside });
  });

  test('the first packets take the relay, and the direct path is there within a second', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    meet(simulation, one, two);
    simulation.data(one, two);
    simulation.run(50);
    expect(two.received.map(({ by }) => by)).toEqual(['relay']);
    simulation.run(900);
    expect(simulation.status(one, two).path).toBe('direct');
    expect([...new Set(one.states)]).toEqual(['probing', 'lrp-ready', 'ice-ready']);
  });

  test('a packet every 5 ms survives the upgrade to the direct path', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    meet(simulation, one, two);
    const sent = traffic(simulation, [one, two], 5_000);
    expect(lost(sent, [one, two])).toEqual([]);
    expect(simulation.status(one, two).path).toBe('direct');
  });

  test('a direct path that is cut under traffic is left within a second, and taken again without loss', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    traffic(simulation, [one, two], 4_000);
    const cutAt = simulation.now;
    simulation.cut(one, two);
    const whileCut = traffic(simulation, [one, two], 5_000);
    const gone = lost(whileCut, [one, two]);
    expect(Math.max(...gone.map(({ at }) => at)) - cutAt).toBeLessThan(1_000);
    expect([simulation.status(one, two).transport, simulation.status(two, one).transport]).toEqual([
      'lrp-ready',
      'lrp-ready',
    ]);
    simulation.mend();
    const after = traffic(simulation, [one, two], 15_000);
    expect(lost(after, [one, two])).toEqual([]);
    expect([simulation.status(one, two).path, simulation.status(two, one).path]).toEqual(['direct', 'direct']);
  });

  test('a direct path that begins to lose large packets is left within 5 s of them, and taken again once it carries them', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    simulation.run(60_000);
    simulation.narrow(one, two);
    const narrowedAt = simulation.now;
    const download = large(simulation, one, two, 10_000);
    const gone = lost(download, [one, two]);
    expect(Math.max(...gone.map(({ at }) => at)) - narrowedAt).toBeLessThan(5_000);
    for (const [node, peer] of [
      [one, two],
      [two, one],
    ] as const) {
      expect(simulation.status(node, peer)).toMatchObject({
        path: 'relayed',
        reason: {
          code: 'large-packets',
          detail: 'Large packets are lost on the direct path; using the relay.',
        },
      });
    }
    simulation.mend();
    expect(lost(large(simulation, one, two, 30_000), [one, two])).toEqual([]);
    expect([simulation.status(one, two).path, simulation.status(two, one).path]).toEqual(['direct', 'direct']);
  });

  test.each([0, 1])('a path that loses the large packets of one side alone is left by both: side %i', (side) => {
    const { simulation, one, two } = pair('easy', 'none');
    simulation.run(60_000);
    const [from, to] = side === 0 ? [one, two] : [two, one];
    simulation.narrowOneWay(from, to);
    large(simulation, one, two, 10_000);
    expect(simulation.status(one, two)).toMatchObject({ path: 'relayed', reason: { code: 'large-packets' } });
    expect(simulation.status(two, one)).toMatchObject({ path: 'relayed', reason: { code: 'large-packets' } });
    simulation.mend();
    large(simulation, one, two, 30_000);
    expect([simulation.status(one, two).path, simulation.status(two, one).path]).toEqual(['direct', 'direct']);
  });

  test('a path that never carried large packets is not taken while there is a relay, and the reason stands', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    simulation.narrow(one, two);
    simulation.run(30_000);
    one.states.length = 0;
    const reasons = new Set<string>();
    simulation.run(600_000, () => reasons.add(simulation.status(one, two).reason.code));
    expect([one.states.filter((state) => state === 'ice-ready'), [...reasons]]).toEqual([[], ['large-packets']]);
  });

  test('without a relay a path that loses large packets is better than none, and is left when the relay comes', () => {
    const { simulation, one, two } = pair('easy', 'easy', { isRelayUp: false });
    simulation.narrow(one, two);
    large(simulation, one, two, 20_000);
    expect(simulation.status(one, two)).toMatchObject({
      path: 'direct',
      reason: { code: 'direct', detail: expect.stringMatching(/Large packets are lost on this path, and no relay/) },
    });
    for (const node of [one, two]) simulation.relay(node, true);
    large(simulation, one, two, 5_000);
    expect(simulation.status(one, two)).toMatchObject({ path: 'relayed', reason: { code: 'large-packets' } });
    for (const node of [one, two]) simulation.relay(node, false);
    simulation.run(10_000);
    expect([simulation.status(one, two).path, simulation.status(two, one).path]).toEqual(['direct', 'direct']);
  });

  test('a path that loses large packets is used while one side alone has no relay, before the relay tells the other', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    simulation.run(60_000);
    simulation.narrow(one, two);
    large(simulation, one, two, 10_000);
    expect(simulation.status(one, two).path).toBe('relayed');
    simulation.relay(two, false);
    large(simulation, one, two, 20_000);
    expect([simulation.status(one, two).path, simulation.status(two, one).path]).toEqual(['direct', 'direct']);
  });

  test('a path that loses one packet in ten is not taken for one that loses large ones', () => {
    const { simulation, one, two } = pair('easy', 'easy', { loss: 0.1 });
    const codes = new Set<string>();
    simulation.run(300_000, () => {
      simulation.data(one, two, 1_312);
      codes.add(simulation.status(one, two).reason.code);
    });
    expect([...codes]).not.toContain('large-packets');
  });

  test('an idle direct path that is cut is left within 30 s', () => {
    const { simulation, one, two } = pair('easy', 'firewall');
    simulation.run(60_000);
    simulation.cut(one, two);
    simulation.run(30_000);
    expect([simulation.status(one, two).transport, simulation.status(two, one).transport]).toEqual([
      'lrp-ready',
      'lrp-ready',
    ]);
  });

  test('a path that works in one direction only is left by both sides', () => {
    const { simulation, one, two } = pair('none', 'none');
    traffic(simulation, [one, two], 2_000);
    simulation.cutOneWay(one, two);
    traffic(simulation, [one, two], 1_200);
    expect([simulation.status(one, two).path, simulation.status(two, one).path]).toEqual(['relayed', 'relayed']);
    const after = traffic(simulation, [one, two], 5_000);
    expect(lost(after, [one, two])).toEqual([]);
  });

  test('a peer that moves to another network is found there', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    traffic(simulation, [one, two], 2_000);
    simulation.move(two);
    traffic(simulation, [one, two], 3_000);
    const after = traffic(simulation, [one, two], 1_000);
    expect(lost(after, [one, two])).toEqual([]);
    expect(simulation.status(one, two)).toMatchObject({
      path: 'direct',
      endpoint: { address: two.router?.publicAddress },
    });
  });

  test('a peer that moves while the bus is away is found too', () => {
    const { simulation, one, two } = pair('easy', 'none');
    traffic(simulation, [one, two], 2_000);
    simulation.bus(one, false);
    simulation.bus(two, false);
    simulation.move(one);
    traffic(simulation, [one, two], 10_000);
    expect([simulation.status(one, two).path, simulation.status(two, one).path]).toEqual(['direct', 'direct']);
  });

  test('bus and relay may go for ten minutes: a direct path stays', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    simulation.run(5_000);
    for (const node of [one, two]) {
      simulation.bus(node, false);
      simulation.relay(node, false);
    }
    const sent = traffic(simulation, [one, two], 600_000, 10_000);
    expect(lost(sent, [one, two])).toEqual([]);
    expect(simulation.status(one, two).transport).toBe('ice-ready');
  });

  test('without a bus no connection is negotiated, not by the relay either, and the reason says so', () => {
    const { simulation, one, two } = pair('none', 'none', { isBusUp: false });
    simulation.run(3_000);
    expect(simulation.status(one, two)).toMatchObject({
      transport: 'probing',
      path: null,
      reason: { code: 'no-bus' },
    });
    simulation.bus(one, true);
    simulation.bus(two, true);
    simulation.run(3_000);
    expect(simulation.status(one, two).path).toBe('direct');
  });

  test('without bus and relay nothing carries packets, and after a minute the pair has failed', () => {
    const { simulation, one, two } = pair('none', 'none', { isBusUp: false, isRelayUp: false });
    simulation.run(30_000);
    expect(simulation.status(one, two)).toMatchObject({ transport: 'probing', path: null, endpoint: null });
    simulation.run(31_000);
    expect(simulation.status(one, two)).toMatchObject({ transport: 'failed', path: null, reason: { code: 'no-bus' } });
    for (const node of [one, two]) {
      simulation.bus(node, true);
      simulation.relay(node, true);
    }
    simulation.run(3_000);
    expect(simulation.status(one, two).transport).toBe('ice-ready');
  });

  test('a peer that starts anew is connected anew', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    simulation.run(5_000);
    simulation.kill(two);
    simulation.run(3_000);
    simulation.start(two);
    simulation.run(5_000);
    expect([simulation.status(one, two).path, simulation.status(two, one).path]).toEqual(['direct', 'direct']);
  });

  test('a tunnel whose agent is gone stays where it is reached, since the relay does not have it', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    simulation.run(5_000);
    const before = one.endpoints.get(two.publicKey);
    simulation.kill(two);
    simulation.run(60_000);
    expect(before).not.toBe('relay');
    expect([one.endpoints.get(two.publicKey), simulation.status(one, two).path]).toEqual([before, null]);
  });

  test('an agent that takes a tunnel over leaves its peers where they are until a path is known, and is direct again', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    simulation.run(5_000);
    const before = two.endpoints.get(one.publicKey);
    simulation.kill(two);
    simulation.run(3_000);
    const moved = two.sent.endpoints;
    simulation.takeOver(two);
    expect([two.endpoints.get(one.publicKey), two.sent.endpoints]).toEqual([before, moved]);
    simulation.run(5_000);
    expect([simulation.status(one, two).path, simulation.status(two, one).path]).toEqual(['direct', 'direct']);
  });

  test('a peer that said that it leaves is not sent to where it was', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    simulation.run(5_000);
    simulation.stop(two);
    simulation.run(3_000);
    expect(one.endpoints.get(two.publicKey)).toBe('relay');
  });

  test('a peer that starts anew while the negotiation is under way is direct within six seconds', () => {
    for (let at = 60; at <= 240; at += 12) {
      const { simulation, one, two } = pair('easy', 'easy');
      simulation.run(at);
      simulation.kill(one);
      simulation.run(20);
      simulation.start(one);
      simulation.run(6_000);
      const paths = [simulation.status(one, two).path, simulation.status(two, one).path];
      expect([at, ...paths]).toEqual([at, 'direct', 'direct']);
    }
  });

  test('a SYN on an active relay session restarts it, and the log says so', () => {
    const { simulation, one, two } = pair('hard', 'hard');
    simulation.run(20_000);
    expect(one.logs).toEqual([]);
    simulation.kill(two);
    simulation.run(1_000);
    simulation.start(two);
    simulation.run(15_000);
    expect(one.logs).toContain('SYN on active LRP session');
    expect([simulation.status(one, two).transport, simulation.status(two, one).transport]).toEqual([
      'lrp-ready',
      'lrp-ready',
    ]);
  });

  test('a peer that left is failed at once and asks for nothing', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    simulation.run(5_000);
    simulation.stop(two);
    simulation.run(3_000);
    expect(simulation.status(one, two)).toMatchObject({ transport: 'failed', path: null, reason: { code: 'left' } });
  });

  test.each([0, 1])('with one side that cannot share its port both stay relayed and quiet, %i', (which) => {
    const { simulation, one, two } = pair('none', 'none');
    const blind = which === 0 ? one : two;
    blind.obstacle = 'The program nft is missing.';
    simulation.gather(blind);
    simulation.run(600_000);
    const other = blind === one ? two : one;
    expect(simulation.status(blind, other)).toMatchObject({
      path: 'relayed',
      reason: { code: 'port-not-shared', detail: 'The program nft is missing.' },
    });
    expect(simulation.status(other, blind).path).toBe('relayed');
    expect(['no-candidates', 'checking']).toContain(simulation.status(other, blind).reason.code);
    expect(one.sent.signals + two.sent.signals).toBeLessThan(100);
    blind.obstacle = null;
    simulation.gather(blind);
    simulation.run(3_000);
    expect([simulation.status(one, two).path, simulation.status(two, one).path]).toEqual(['direct', 'direct']);
  });

  test.each([undefined, 'ipv4' as const])(
    'a tunnel that takes %s never gets an address of the other family',
    (family) => {
      const simulation = new Simulation();
      const [one, two] = [simulation.add('one', 'none'), simulation.add('two', 'none')];
      two.inside = { ...two.inside, address: '2001:db8::2' };
      one.onlyFamily = family;
      for (const node of [one, two]) simulation.start(node);
      simulation.run(60_000);
      const expected = family ? 'relayed' : 'direct';
      expect([simulation.status(one, two).path, simulation.status(two, one).path]).toEqual([expected, expected]);
      if (family) {
        const detail = 'The peer named no address where it could be reached. Over IPv6 nothing was tried';
        expect(simulation.status(one, two).reason.detail).toContain(detail);
      }
    },
  );

  test('a relay that stays away lets the pair fail, however often it is tried', () => {
    const { simulation, one, two } = pair('hard', 'hard');
    simulation.run(10_000);
    for (let n = 0; n < 9; n++) {
      simulation.relay(one, false);
      simulation.run(10_000);
    }
    expect(simulation.status(one, two)).toMatchObject({
      transport: 'failed',
      path: null,
      reason: { code: 'relay-away' },
    });
  });

  test('a peer that does not answer is silent, and asked ever more rarely', () => {
    const simulation = new Simulation();
    const [one, two] = [simulation.add('one', 'none'), simulation.add('two', 'none')];
    simulation.start(one);
    simulation.run(3_600_000);
    expect(simulation.status(one, two)).toMatchObject({ transport: 'failed', reason: { code: 'peer-silent' } });
    expect(one.sent.signals).toBeLessThan(25);
    expect(one.sent.probes).toBeLessThan(25);
  });

  test('idle, a direct pair costs a check each 15 to 25 s and nothing else', () => {
    const { simulation, one } = pair('easy', 'easy');
    simulation.run(60_000);
    const before = { ...one.sent };
    simulation.run(600_000);
    expect(one.sent.signals).toBe(before.signals);
    // Each of both asks, and each answers the other; one of full size each 5 minutes.
    expect(one.sent.checks - before.checks).toBeLessThan(2 * (600 / 15 + 600 / 300) + 2);
    expect(one.sent.checks - before.checks).toBeGreaterThan(2 * (600 / 25) - 2);
  });

  test('checks of full size cost a direct pair 30 kB a minute and side under traffic, and 300 bytes without', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    let full = 0;
    simulation.onUdp = (to, bytes) => {
      if (to === two && bytes.length > 1_300) full += bytes.length;
    };
    large(simulation, one, two, 60_000);
    expect(full).toBeLessThan(30_000);
    simulation.run(10_000);
    full = 0;
    simulation.run(600_000);
    expect(full).toBeLessThan(3_000);
    expect(full).toBeGreaterThan(0);
  });

  test('hopeless pairs become quiet', () => {
    const { simulation, one } = pair('hard', 'hard');
    simulation.run(1_800_000);
    const before = { ...one.sent };
    simulation.run(3_600_000);
    expect(one.sent.signals - before.signals).toBeLessThan(100);
    expect(one.sent.checks - before.checks).toBeLessThan(500);
  });

  test('whatever network, loss, delay and clocks: packets flow, and all is quiet again in the end', () => {
    const kinds = fc.constantFrom(...KINDS);
    const options = fc.record({
      seed: fc.integer({ min: 1, max: 1_000_000 }),
      isBusUnordered: fc.boolean(),
      loss: fc.constantFrom(0, 0.02, 0.1),
      delay: fc.constantFrom([1, 2] as const, [5, 60] as const, [100, 250] as const),
      skews: fc.tuple(fc.integer({ min: -1_000_000, max: 1e9 }), fc.integer({ min: -1_000_000, max: 1e9 })),
    });
    const trouble = fc.constantFrom('none', 'bus', 'relay', 'restart', 'cut', 'move', 'late' as const);
    const runs = fc.property(kinds, kinds, options, fc.array(trouble, { maxLength: 4 }), (a, b, option, troubles) => {
      const { simulation, one, two } = pair(a, b, option);
      for (const kind of troubles) {
        switch (kind) {
          case 'bus':
          case 'relay':
            simulation[kind](two, false);
            traffic(simulation, [one, two], 3_000, 100);
            simulation[kind](two, true);
            break;
          case 'restart':
            simulation.kill(two);
            traffic(simulation, [one, two], 3_000, 100);
            simulation.start(two);
            break;
          case 'cut':
            simulation.cut(one, two);
            traffic(simulation, [one, two], 5_000, 100);
            simulation.mend();
            break;
          case 'move':
            simulation.move(one);
            break;
          case 'late':
          case 'none':
            break;
          default:
            kind satisfies never;
        }
        traffic(simulation, [one, two], 4_000, 100);
      }
      traffic(simulation, [one, two], 200_000, 5_000);
      const expected = GRID[a][b];
      const found = [simulation.status(one, two).path, simulation.status(two, one).path];
      if (option.loss === 0) {
        if (expected !== 'either') expect(found).toEqual([expected, expected]);
        expect(lost(traffic(simulation, [one, two], 2_000, 20), [one, two])).toEqual([]);
      } else expect(found).not.toContain(null);
      const before = one.sent.signals + one.sent.checks;
      simulation.run(60_000);
      expect(one.sent.signals + one.sent.checks - before).toBeLessThan(250);
    });
    fc.assert(runs, { numRuns: 8 });
  }, 120_000);
});

describe('with bus and STUN away', () => {
  test.each<[Obstruction, Obstruction, 'direct' | 'relayed', boolean]>([
    ['none', 'none', 'direct', false],
    ['easy', 'none', 'direct', false],
    ['easy', 'easy', 'direct', false],
    ['firewall', 'easy', 'direct', true],
    ['hard', 'hard', 'relayed', true],
  ])('%s and %s that met are %s within 5 s of both being started again', (a, b, path, isRelayUp) => {
    const { simulation, one, two } = pair(a, b);
    simulation.run(60_000);
    for (const node of [one, two]) isolate(simulation, node, isRelayUp);
    simulation.start(one);
    simulation.run(2_000);
    simulation.start(two);
    simulation.run(5_000);
    expect([simulation.status(one, two).path, simulation.status(two, one).path]).toEqual([path, path]);
  });

  test('a peer that starts again is known by the relay for another process, and connected anew', () => {
    const { simulation, one, two } = pair('easy', 'easy');
    simulation.run(5_000);
    for (const node of [one, two]) simulation.bus(node, false);
    simulation.kill(two);
    two.isStunUp = false;
    simulation.run(3_000);
    simulation.start(two);
    simulation.run(5_000);
    expect([simulation.status(one, two).path, simulation.status(two, one).path]).toEqual(['direct', 'direct']);
  });

  test('a recording of what a peer said directly moves nothing, begins nothing and is answered twice a second at most', () => {
    const { simulation, one, two, recorded } = recordedPastTheBus();
    simulation.kill(two);
    simulation.start(two);
    const recordings = recorded.length;
    const attacker = { address: '192.0.2.66', port: 666 };
    const commands = recorded.flatMap((bytes) => two.paths.stunReceived(bytes, attacker, simulation.now));
    expect(recordings).toBeGreaterThan(3);
    expect(commands.filter(({ type }) => type !== 'stun' && type !== 'changed')).toEqual([]);
    expect(commands.filter((command) => command.type === 'stun' && command.to === attacker).length).toBeLessThan(12);
    simulation.run(5_000);
    expect(simulation.status(two, one)).toMatchObject({ path: 'direct', endpoint: one.inside });
  });

  test('a flood in the name of a peer, or in none, takes nothing from what the peer says by the relay', () => {
    const { simulation, one, two, recorded } = recordedPastTheBus();
    const [said] = recorded;
    if (!said) throw new Error('Nothing was said past the bus.');
    const flood = (bytes: Uint8Array) => {
      const { ignored } = two.paths;
      const before = ignored['rate'] ?? 0;
      for (let n = 0; n < 2_000; n += 1) {
        two.paths.stunReceived(bytes, { address: `192.0.2.${n % 250}`, port: n + 1 }, simulation.now);
      }
      return (ignored['rate'] ?? 0) - before;
    };
    expect(flood(encodeEnvelope(new Uint8Array(12), new Uint8Array(120).fill(1)))).toBe(0);
    const dropped = flood(said);
    expect(dropped).toBeGreaterThan(1_500);
    const before = two.paths.ignored['rate'];
    two.paths.relayedReceived(one.publicKey, said, simulation.now);
    expect(two.paths.ignored['rate']).toBe(before);
  });
});

describe('many nodes', () => {
  test('eight that begin at once all reach each other directly', () => {
    const simulation = new Simulation({ seed: 5 });
    const nodes = Array.from({ length: 8 }, (_, n) => simulation.add(`n${n}`, n % 2 === 0 ? 'easy' : 'firewall'));
    for (const node of nodes) simulation.start(node);
    simulation.run(15_000);
    const paths = nodes.flatMap((node) => node.paths.statuses.map(({ path }) => path));
    expect(paths.every((path) => path === 'direct')).toBe(true);
  }, 60_000);
});

describe('what is not for this node', () => {
  test('random bytes from anywhere change nothing and throw nothing', () => {
    const { simulation, one, two } = pair('none', 'none');
    simulation.run(3_000);
    const before = simulation.status(one, two).transport;
    const input = fc.tuple(fc.uint8Array({ maxLength: 200 }), fc.constantFrom('stun', 'signal', 'relay'));
    fc.assert(
      fc.property(input, ([bytes, source]) => {
        const from = { address: '198.51.100.9', port: 5 };
        if (source === 'stun') one.paths.stunReceived(bytes, from, simulation.now);
        else if (source === 'signal') one.paths.signalReceived('mesh.w.one.signal', bytes, simulation.now);
        else one.paths.relayedReceived(two.publicKey, bytes, simulation.now);
      }),
    );
    expect(simulation.status(one, two).transport).toBe(before);
  });

  test('checks with flipped bits are counted and not answered', () => {
    const { simulation, one, two } = pair('none', 'none');
    const checks: Uint8Array[] = [];
    simulation.onUdp = (to, bytes) => {
      if (to === one) checks.push(bytes);
    };
    simulation.run(1_000);
    const answers = checks.flatMap((check) =>
      Array.from({ length: check.length }, (_, at) => {
        const bent = Uint8Array.from(check);
        bent[at] = (bent[at] ?? 0) ^ 1;
        return one.paths.stunReceived(bent, two.inside, simulation.now);
      }).flat(),
    );
    expect(checks.length).toBeGreaterThan(0);
    expect(answers.filter(({ type }) => type === 'stun')).toEqual([]);
  });
});

/** Its process has ended, and the next one finds no bus and no STUN. */
function isolate(simulation: Simulation, node: SimulatedNode, isRelayUp: boolean): void {
  simulation.kill(node);
  Object.assign(node, { isBusUp: false, isRelayUp, isStunUp: false });
}

interface PairOptions extends SimulationOptions {
  readonly isBusUp?: boolean;
  readonly isRelayUp?: boolean;
}

function pair(a: Obstruction, b: Obstruction, { isBusUp = true, isRelayUp = true, ...options }: PairOptions = {}) {
  const simulation = new Simulation({ seed: 7, ...options });
  const [one, two] = [simulation.add('one', a), simulation.add('two', b)];
  for (const node of [one, two]) {
    node.isBusUp = isBusUp;
    node.isRelayUp = isRelayUp;
  }
  for (const node of [one, two]) simulation.start(node);
  return { simulation, one, two };
}

interface Sent {
  readonly n: number;
  readonly at: number;
}

/** A packet in each direction every few milliseconds. */
function traffic(
  simulation: Simulation,
  [a, b]: readonly [SimulatedNode, SimulatedNode],
  forMs: number,
  every = 5,
): Sent[] {
  const sent: Sent[] = [];
  const send = () => {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      if (from.isRunning) sent.push({ n: simulation.data(from, to), at: simulation.now });
    }
  };
  simulation.run(forMs, send, every);
  return sent;
}

/** A download from one to the other: full packets there, small ones back. */
function large(simulation: Simulation, from: SimulatedNode, to: SimulatedNode, forMs: number): Sent[] {
  const sent: Sent[] = [];
  const send = () => {
    sent.push({ n: simulation.data(from, to, 1_312), at: simulation.now });
    simulation.data(to, from);
  };
  simulation.run(forMs, send, 20);
  return sent;
}

/** Returns the packets that did not arrive, except for packets still on their way. */
function lost(sent: readonly Sent[], nodes: readonly SimulatedNode[]): Sent[] {
  const arrived = new Set(nodes.flatMap(({ received }) => received.map(({ n }) => n)));
  const last = sent.at(-1)?.at ?? 0;
  return sent.filter(({ n, at }) => !arrived.has(n) && at < last - 600);
}

/** Until each has the other's answer on the bus, so that the relay may carry their packets. */
function meet(simulation: Simulation, one: SimulatedNode, two: SimulatedNode): void {
  while (!one.met.has(two.publicKey) || !two.met.has(one.publicKey)) simulation.run(5);
}

/** A pair that met and started anew without bus and STUN, with what `one` sent `two` directly meanwhile. */
function recordedPastTheBus() {
  const met = pair('none', 'none');
  const { simulation, one, two } = met;
  simulation.run(5_000);
  for (const node of [one, two]) isolate(simulation, node, false);
  const recorded: Uint8Array[] = [];
  simulation.onUdp = (to, bytes) => {
    if (to === two && decodeEnvelope(bytes)) recorded.push(bytes);
  };
  for (const node of [one, two]) simulation.start(node);
  simulation.run(5_000);
  return { ...met, recorded };
}
