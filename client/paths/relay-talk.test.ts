import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RelaysSignal } from '../../net/signal/message.ts';
import { RelayTalk } from './relay-talk.ts';
import { type SimulatedNode, Simulation } from './simulation.testkit.ts';

const EU = new Map([['eu', 10]]);
const US = new Map([['us', 20]]);

test('each end knows the costs of the other after three signals, and then both are silent', () => {
  const { one, two } = { one: new RelayTalk(), two: new RelayTalk() };
  one.use(EU, 0);
  two.use(US, 5_000);
  const said = exchange(one, two, 0, 60_000);
  expect([one.theirs, two.theirs]).toEqual([US, EU]);
  expect(said).toBe(3);
});

test('a peer that never answers is told five times and then no more, until something is new', () => {
  const talk = new RelayTalk();
  talk.use(EU, 0);
  let said = 0;
  const until = (end: number) => {
    while (talk.deadline <= end) if (talk.say(talk.deadline)) said += 1;
  };
  until(3_600_000);
  expect(said).toBe(6);
  talk.use(US, 3_600_000);
  until(3_600_000);
  expect(said).toBe(7);
});

test('who has no costs of its own asks nothing and answers nothing', () => {
  const talk = new RelayTalk();
  expect(talk.received({ kind: 'RELAYS', costs: EU, ask: true }, 0)).toBe(true);
  expect([talk.deadline, talk.theirs]).toEqual([Number.POSITIVE_INFINITY, EU]);
});

test('however many signals get lost, both know the last costs of each other once few do', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ wait: fc.nat(3_000), isOne: fc.boolean(), cost: fc.nat(3) }), { maxLength: 12 }),
      fc.infiniteStream(fc.boolean()),
      (changes, losses) => {
        const { one, two } = { one: new RelayTalk(), two: new RelayTalk() };
        one.use(EU, 0);
        two.use(US, 0);
        let now = 0;
        const last = { one: EU, two: US };
        for (const { wait, isOne, cost } of changes) {
          exchange(one, two, now, now + wait, () => losses.next().value);
          now += wait;
          const costs = new Map([['eu', cost]]);
          last[isOne ? 'one' : 'two'] = costs;
          (isOne ? one : two).use(costs, now);
        }
        exchange(one, two, now, now + 60_000);
        expect([one.theirs, two.theirs]).toEqual([last.two, last.one]);
      },
    ),
    { numRuns: 200 },
  );
});

test('nodes tell each other of their relays once they are proven, and again after one started anew', () => {
  const simulation = new Simulation({ seed: 11, loss: 0.2 });
  const [one, two] = [simulation.add('one', 'hard'), simulation.add('two', 'hard')];
  for (const node of [one, two]) simulation.start(node);
  simulation.costs(one, { eu: 10, us: 90 });
  simulation.costs(two, { us: 20 });
  simulation.run(20_000);
  const known = (node: SimulatedNode, of: SimulatedNode) => Object.fromEntries(node.peerCosts.get(of.publicKey) ?? []);
  expect([known(one, two), known(two, one)]).toEqual([{ us: 20 }, { eu: 10, us: 90 }]);
  simulation.costs(one, { us: 90 });
  simulation.run(5_000);
  expect(known(two, one)).toEqual({ us: 90 });
  simulation.kill(two);
  two.peerCosts.clear();
  simulation.start(two);
  simulation.run(20_000);
  expect(known(two, one)).toEqual({ us: 90 });
});

/** Carries signals at once, those that are not lost. @returns how many were sent */
function exchange(one: RelayTalk, two: RelayTalk, from: number, until: number, isLost = () => false): number {
  let said = 0;
  for (;;) {
    const [speaker, listener] = one.deadline <= two.deadline ? [one, two] : [two, one];
    const now = Math.max(from, speaker.deadline);
    if (now > until) return said;
    const message: RelaysSignal | undefined = speaker.say(now);
    if (message === undefined) continue;
    said += 1;
    if (!isLost()) listener.received(message, now);
  }
}
