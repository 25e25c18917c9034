import { describe, expect, it } from 'vitest';
import { unmetExpectations } from '../../core/intent/verify/expectations.ts';
import type { PolicySpec } from '../../core/model/policy.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import {
  after,
  answerTo,
  CLOSED,
  ELSEWHERE,
  EVERYONE,
  NOW,
  networkOf,
  OPEN,
  openIn,
  PEERS,
} from './open-between.testkit.ts';

const NOBODY = ['nobody else', 'no one else', 'with nobody else', 'to nobody else', 'to no one else'];
const TOGETHER: readonly [string, readonly string[]][] = [
  ['web-1 and db-1', ['web-1', 'db-1']],
  ['web-1, db-1 and api-1', ['web-1', 'db-1', 'api-1']],
  ['the web servers', ['web-1', 'web-2']],
  ['web and db', ['web-1', 'web-2', 'db-1']],
];
/** They are opened to each other where they are closed. */
const GRANTING: readonly ((who: string) => string)[] = [
  ...NOBODY.flatMap((end) => [
    (who: string) => `let ${who} talk to each other and ${end}`,
    (who: string) => `${who} may reach each other, and ${end}`,
  ]),
  (who) => `let ${who} reach only each other`,
  (who) => `allow access between ${who} and nobody else`,
];
/** Nothing is opened. */
const RESTRICTING: readonly ((who: string) => string)[] = [
  (who) => `${who} may only talk to each other`,
  (who) => `${who} may reach nobody but each other`,
  (who) => `${who} should talk to nothing but each other`,
  (who) => `keep ${who} among themselves`,
  (who) => `restrict ${who} to each other`,
  (who) => `isolate ${who} from everyone except each other`,
  (who) => `isolate ${who} from everyone else`,
  (who) => `${who} must not reach anyone except each other`,
];
const ASKED: readonly ((who: string) => string)[] = [
  (who) => `only ${who} may talk to each other`,
  (who) => `allow access only between ${who}`,
  (who) => `${who} may reach each other and nothing else`,
  (who) => `${who} may only reach each other on 443`,
];
const SINGLE = ([who]: (typeof TOGETHER)[number]) => who !== 'the web servers';
const over = (frames: readonly ((who: string) => string)[]) =>
  TOGETHER.flatMap((group) =>
    frames.flatMap((frame): [string, readonly string[]][] => {
      const text = frame(group[0]);
      return SINGLE(group) || !text.includes('between') ? [[text, group[1]]] : [];
    }),
  );

const others = (own: readonly string[]) => EVERYONE.filter((name) => !own.includes(name));

describe('who talks to each other and to nobody else', () => {
  it.each([...over(GRANTING), ...over(RESTRICTING)])('is closed both ways to all others: %s', (intent, own) => {
    const next = after(intent, OPEN);
    expect([...openIn(next, others(own), own), ...openIn(next, own, others(own))]).toEqual([]);
    expect(openIn(next, own, own)).toEqual(openIn(OPEN, own, own));
    expect(openIn(next, others(own), others(own))).toEqual(openIn(OPEN, others(own), others(own)));
  });

  it.each(over(GRANTING))('is opened to each other alone where all is closed: %s', (intent, own) => {
    const between = ({ [0]: first = '' }: readonly string[]) => PEERS[first];
    const pairs = openIn(OPEN, own, own).filter((pair) => {
      const [src = '', dst = ''] = pair.split(' > ');
      return own.every((name) => between([name]) === between(own)) || PEERS[src] !== PEERS[dst];
    });
    expect(openIn(after(intent, CLOSED), EVERYONE, EVERYONE)).toEqual(pairs);
  });

  it.each(over(RESTRICTING))('is never opened by what restricts: %s', (intent) => {
    const answer = answerTo(intent, CLOSED);
    if (answer.outcome === 'changes') expect(openIn(after(intent, CLOSED), EVERYONE, EVERYONE)).toEqual([]);
    else expect(answer).toMatchObject({ outcome: 'refused', choices: [expect.any(String), expect.any(String)] });
  });

  it.each([...over(GRANTING), ...over(RESTRICTING)])(
    'is expected to be closed in each direction: %s',
    (intent, own) => {
      const answer = answerTo(intent, OPEN);
      const uids = own.map((name) => `p_${name}`);
      const rest = [{ peerSelector: { notPeers: uids } }, { ipBlock: { cidr: '0.0.0.0/0', except: ['10.96.0.0/16'] } }];
      const oneWay: PolicySpec[] = [
        { action: 'DENY', peerSelector: { peers: uids }, ingress: [{ from: rest }] },
        { action: 'DENY', peerSelector: { peers: uids }, egress: [{ to: rest }] },
      ];
      for (const spec of oneWay) {
        const state = networkOf('ALLOW', ['one-way', spec]);
        const { expectations } = answer.outcome === 'changes' ? answer : { expectations: [] };
        expect(unmetExpectations(expectations, state, compile(modelOf(state, NOW)))).not.toEqual([]);
      }
    },
  );

  it.each(over(ASKED))('is asked about where ports or "only" may be meant otherwise: %s', (intent, own) => {
    const answer = answerTo(intent, OPEN);
    if (answer.outcome !== 'refused') throw new Error(intent);
    expect(answer.choices.length).toBeGreaterThanOrEqual(2);
    for (const choice of answer.choices) {
      const next = after(choice, OPEN);
      expect(openIn(next, [...others(own)], own, 443), choice).toEqual([]);
      expect(openIn(next, own, others(own), 443), choice).toEqual([]);
    }
  });

  it('is closed on the ports that are named alone, and the others stay', () => {
    const next = after('let web-1 and db-1 reach each other on 443 and nobody else', OPEN);
    expect(openIn(next, ['laptop', ELSEWHERE], ['web-1', 'db-1'], 443)).toEqual([]);
    expect(openIn(next, ['web-1', 'db-1'], ['laptop', ELSEWHERE], 443)).toEqual([]);
    expect(openIn(next, ['laptop'], ['web-1', 'db-1'])).toEqual(['laptop > web-1', 'laptop > db-1']);
  });

  it('leaves nobody to close where all are named', () => {
    const all = Object.keys(PEERS).join(' and ');
    const next = after(`let ${all} reach each other and nobody else`, OPEN);
    expect(openIn(next, [ELSEWHERE], Object.keys(PEERS))).toEqual([]);
  });
});

describe('who reaches one alone', () => {
  const OUTWARD = [
    'let web-1 reach db-1 and to nobody else',
    'let web-1 talk to db-1 and to nothing else',
    'web-1 may connect to db-1 and with no one else',
    'web-1 may reach nobody but db-1',
    'let web-1 reach no one except db-1',
    'web-1 may only reach db-1',
  ];
  it.each(OUTWARD)('reaches nobody else, and is reached as before: %s', (intent) => {
    const next = after(intent, OPEN);
    expect(openIn(next, ['web-1'], EVERYONE)).toEqual(['web-1 > db-1']);
    expect(openIn(next, others(['web-1']), EVERYONE)).toEqual(openIn(OPEN, others(['web-1']), EVERYONE));
  });

  it.each([
    'web-1 may talk to db-1 and nobody else',
    'let web-1 talk to db-1 and nobody else',
    'let web-1 speak with db-1 on 5432 and no one else',
    'web-1 may reach db-1, nobody else',
    'web-1 can contact db-1 on 5432 and nobody else',
  ])('is asked which direction is closed to others: %s', (intent) => {
    const answer = answerTo(intent, OPEN);
    if (answer.outcome !== 'refused') throw new Error(intent);
    const closes = answer.choices.map((choice) => {
      const next = after(choice, OPEN);
      return [
        openIn(next, ['laptop'], ['db-1'], 5432).length === 0,
        openIn(next, ['web-1'], ['laptop'], 5432).length === 0,
      ];
    });
    const directions = [...new Set(closes.map((one) => JSON.stringify(one)))];
    expect(directions).toEqual(['[true,false]', '[false,true]']);
  });

  it.each(['let web-1 reach db-1 on 5432 and to nothing else', 'web-1 may reach db-1 on 5432 and to nobody else'])(
    'is offered nothing that leaves others open: %s',
    (intent) => {
      // Where all else is closed already there is nothing to ask.
      for (const [state, count] of [
        [OPEN, 2],
        [CLOSED, 1],
      ] as const) {
        const answer = answerTo(intent, state);
        const choices = answer.outcome === 'refused' ? answer.choices : [intent];
        expect(choices).toHaveLength(count);
        for (const choice of choices)
          expect(openIn(after(choice, state), ['web-1'], EVERYONE, 5432), choice).toEqual(['web-1 > db-1']);
      }
    },
  );
});

describe('who is kept out on all ports but some', () => {
  it.each([
    'let no one but api-1 reach db-1 on anything but 5432',
    'let nobody but api-1 reach db-1 except on 5432',
    'let only api-1 reach db-1 on all ports except 5432',
    'open db-1 to nobody but api-1 on anything but 5432',
    'nobody but api-1 may reach db-1 on any port except 5432',
  ])('is asked what holds on those: %s', (intent) => {
    expect(answerTo(intent, OPEN)).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('It is not clear who may reach it on TCP 5432'),
    });
  });

  it.each([
    ['only db-1 may not reach laptop', 9999],
    ['only db-1 must not reach laptop on 22', 22],
  ])('is never turned into who may: %s', (intent, port) => {
    const answer = answerTo(intent, OPEN);
    const choices = answer.outcome === 'refused' ? answer.choices : [];
    expect(choices).toHaveLength(1);
    for (const choice of choices)
      expect(openIn(after(choice, OPEN), EVERYONE, ['laptop'], port)).toEqual(
        EVERYONE.filter((name) => name !== 'db-1' && name !== 'laptop').map((name) => `${name} > laptop`),
      );
  });
});

describe('access for a time', () => {
  it.each(['laptop may reach db-1 until friday 18:00', 'let laptop reach db-1 for two hours'])(
    'that is there without end is asked about, as it would not end: %s',
    (intent) => {
      expect(answerTo(intent, OPEN)).toMatchObject({ questions: [expect.stringContaining('does not end then')] });
      expect(answerTo(intent, CLOSED)).not.toHaveProperty('questions');
    },
  );
});
