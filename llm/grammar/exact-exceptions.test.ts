import { describe, expect, it } from 'vitest';
import { planChanges } from '../../core/changes/changes.ts';
import type { Expectation } from '../../core/intent/verify/expectation.ts';
import { unmetExpectations } from '../../core/intent/verify/expectations.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import { namesOf } from '../../core/state/terms.ts';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const GROUPS = {
  web: ['web-1', 'web-2'],
  db: ['db-1', 'db-2'],
  laptop: ['alice-laptop', 'bob-laptop'],
  prod: ['web-1', 'db-1'],
  staging: ['web-2', 'db-2'],
} as const;
const NAMES = [...GROUPS.web, ...GROUPS.db, ...GROUPS.laptop, 'prom'];
const PORTS = [22, 443, 5432];
const PEERS = NAMES.map((name) =>
  peer(name, {
    labels: {
      role: ['web', 'db', 'laptop'].find((role) => name.includes(role)) ?? 'monitor',
      ...((GROUPS.prod as readonly string[]).includes(name) && { env: 'prod' }),
      ...((GROUPS.staging as readonly string[]).includes(name) && { env: 'staging' }),
    },
  }),
);
const STATES = [
  stateWith(...PEERS),
  stateWith(
    ...PEERS,
    policy('db-in', {
      action: 'ALLOW',
      peerSelector: { matchLabels: { role: 'db' } },
      ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ port: 5432 }] }],
    }),
  ),
];

type Names = readonly string[];
type Pairs = (without: Names) => Set<string>;
const pairs = (from: Names, to: Names) =>
  new Set(from.flatMap((src) => to.flatMap((dst) => (src === dst ? [] : [`${src} ${dst}`]))));
const left = (names: Names, gone: Names) => names.filter((name) => !gone.includes(name));
const oneWay =
  (a: Names, b: Names): Pairs =>
  (gone) =>
    pairs(left(a, gone), left(b, gone));
const bothWays =
  (a: Names, b: Names): Pairs =>
  (gone) =>
    oneWay(a, b)(gone).union(oneWay(b, a)(gone));
const alone =
  (a: Names): Pairs =>
  (gone) =>
    pairs(NAMES, left(a, gone)).union(pairs(left(a, gone), NAMES));
const { web, db, laptop, prod, staging } = GROUPS;

const ORDERS: readonly (readonly [string, Pairs])[] = [
  ['block prod from staging', oneWay(prod, staging)],
  ['deny web access to db', oneWay(web, db)],
  ['stop the laptops from reaching the databases', oneWay(laptop, db)],
  ['block everyone from db', oneWay(NAMES, db)],
  ['isolate the databases', alone(db)],
  ['isolate web-1 and web-2', alone(web)],
  ['quarantine the laptops', alone(laptop)],
  ['quarantine bob-laptop', alone(['bob-laptop'])],
  ['isolate env=prod', alone(prod)],
  ['deny everything between prod and staging', bothWays(prod, staging)],
  ['block traffic between env=prod and env=staging', bothWays(prod, staging)],
  ['deny all traffic between laptops', bothWays(laptop, laptop)],
  ['stop prod and staging from talking to each other', bothWays(prod, staging)],
  ['separate prod from staging', bothWays(prod, staging)],
  ['isolate web from db', bothWays(web, db)],
  ['disconnect bob-laptop from the databases and the web servers', bothWays(['bob-laptop'], [...db, ...web])],
];

interface Left {
  readonly gone?: Names;
  readonly from?: Names;
  readonly to?: Names;
  readonly ports?: readonly number[];
}
const EXCEPTIONS: readonly (readonly [string, Left])[] = [
  ['db-1', { gone: ['db-1'] }],
  ['bob-laptop', { gone: ['bob-laptop'] }],
  ['db-1 to db-2', { from: ['db-1'], to: ['db-2'] }],
  ['db-1 to db-2 on 5432', { from: ['db-1'], to: ['db-2'], ports: [5432] }],
  ['from db-1 to db-2 on 5432', { from: ['db-1'], to: ['db-2'], ports: [5432] }],
  ['web-1 to db-1', { from: ['web-1'], to: ['db-1'] }],
  ['from web-1 to db-2', { from: ['web-1'], to: ['db-2'] }],
  ['web-1 to alice-laptop', { from: ['web-1'], to: ['alice-laptop'] }],
  ['from prom to web-1', { from: ['prom'], to: ['web-1'] }],
  ['ssh from prom to bob-laptop', { from: ['prom'], to: ['bob-laptop'], ports: [22] }],
  ['ssh from alice-laptop to bob-laptop', { from: ['alice-laptop'], to: ['bob-laptop'], ports: [22] }],
  ['ssh from alice-laptop to db-1', { from: ['alice-laptop'], to: ['db-1'], ports: [22] }],
  ['from web to db on 5432', { from: web, to: db, ports: [5432] }],
  ['ssh from bob-laptop', { from: ['bob-laptop'], ports: [22] }],
  ['ssh to web-1', { to: ['web-1'], ports: [22] }],
  ['to db-2', { to: ['db-2'] }],
  ['from db-1', { from: ['db-1'] }],
  ['ssh', { ports: [22] }],
  ['22 and 5432', { ports: [22, 5432] }],
];

/** The connections that an order closes, and those of it that an exception leaves as they are. */
function meant(order: Pairs, { gone = [], from, to, ports }: Left) {
  const whole = order(gone);
  const isLeft = (pair: string, port: number) => {
    const [src = '', dst = ''] = pair.split(' ');
    if (!from && !to && !ports) return false;
    return (!from || from.includes(src)) && (!to || to.includes(dst)) && (!ports || ports.includes(port));
  };
  return (src: string, dst: string, port: number): 'closed' | 'left' | 'other' => {
    const pair = `${src} ${dst}`;
    if (!whole.has(pair)) return gone.length > 0 && order([]).has(pair) ? 'left' : 'other';
    return isLeft(pair, port) ? 'left' : 'closed';
  };
}

const says = (one: Expectation, src: string, dst: string, port: number, state: (typeof STATES)[number]) =>
  namesOf(one.src, state).includes(src) &&
  !one.except?.some((term) => namesOf(term, state).includes(src)) &&
  namesOf(one.dst, state).includes(dst) &&
  (one.protocol === undefined ||
    (one.protocol === 'TCP' && (one.port === undefined || (one.port <= port && port <= (one.endPort ?? one.port)))));

/** Whether an intent is planned; what it closes, leaves and proves is compared with what is meant. */
function checked(intent: string, state: (typeof STATES)[number], of: ReturnType<typeof meant>, named: Left) {
  const answer = planByGrammar({ intent, state, now: NOW });
  if (answer.outcome !== 'changes') return false;
  const { after } = planChanges(state, answer.changes, NOW);
  const [was, is] = [compile(modelOf(state, NOW)), compile(modelOf(after, NOW))];
  const wrong = unmetExpectations(answer.expectations, after, is).map(({ detail }) => `${intent}: ${detail}`);
  for (const src of NAMES) {
    for (const dst of left(NAMES, [src])) {
      for (const port of PORTS) {
        const kind = of(src, dst, port);
        const [before, now] = [was.verdict(src, dst, 'TCP', port), is.verdict(src, dst, 'TCP', port)];
        const proofs = answer.expectations.filter((one) => says(one, src, dst, port, state));
        const isProven = (expected: string) => proofs.some((one) => one.expect === expected);
        const where = `${intent}: ${src} > ${dst} on ${port} (${kind})`;
        if (kind === 'closed' ? now : now !== before) wrong.push(`${where} is ${now ? 'open' : 'closed'}`);
        if (kind === 'closed' && !isProven('deny')) wrong.push(`${where} is not proven to be closed`);
        const twoEnded = kind === 'left' && (named.from || named.to);
        if (twoEnded && before && !isProven('allow')) wrong.push(`${where} is not proven to stay`);
        if (kind === 'left' && isProven('deny')) wrong.push(`${where} is proven to be closed`);
      }
    }
  }
  expect(wrong).toEqual([]);
  return true;
}

describe('an order with an exception', () => {
  it.each(ORDERS)(
    '"%s except …" closes and proves all but exactly what is left out, or is asked about',
    (order, whole) => {
      const planned = STATES.flatMap((state) =>
        EXCEPTIONS.filter(([words, named]) => checked(`${order} except ${words}`, state, meant(whole, named), named)),
      );
      expect(planned.length).toBeGreaterThan(2);
    },
  );

  it.each([
    ['deny everything between prod and staging except db-1 to db-2 on 5432'],
    ['deny all traffic between laptops except ssh from alice-laptop to bob-laptop'],
    ['separate prod from staging except db-1 to db-2'],
    ['disconnect bob-laptop from the databases and the web servers, except ssh to web-1'],
    ['isolate the databases except web-1 to db-1'],
    ['isolate role=web, except from alice-laptop to web-1 on ssh'],
    ['quarantine role=laptop except prom to alice-laptop on 9100'],
    ['block traffic between prod and staging but keep ssh from db-1 to db-2'],
  ])('"%s" is planned', (intent) => {
    expect(planByGrammar({ intent, state: stateWith(...PEERS), now: NOW })).toMatchObject({ outcome: 'changes' });
  });

  it.each([
    'only web may reach db except web-1 to db-1',
    'only web may reach db except from alice-laptop to db-1 on 22',
    'let only web reach db on 5432 except ssh from prom to db-1',
    'isolate the databases except web-1 to alice-laptop',
    'separate prod from staging except alice-laptop to db-1',
    'block prod from staging except web to db',
    'block prod from staging on 443 except db-1 to db-2 on 22',
  ])('"%s" is asked about, for the exception is no part of what is closed', (intent) => {
    expect(planByGrammar({ intent, state: stateWith(...PEERS), now: NOW })).toMatchObject({ outcome: 'refused' });
  });
});

/** Exceptions that each name an end, as they stand beside each other. */
const ENDED = EXCEPTIONS.filter(
  ([words, { from, to }]) => (from || to) && words !== 'from db-1' && words !== 'to db-2',
);
const JOINTS = [' and ', ', ', ' and except ', ' except '];

describe('an order with two exceptions', () => {
  it.each(ORDERS.filter(([order]) => /prod and staging|separate|isolate the|quarantine the|everyone/.test(order)))(
    '"%s except … and …" leaves exactly both, or is asked about',
    (order, whole) => {
      const [one] = STATES;
      let planned = 0;
      for (const [at, [words, first]] of ENDED.entries())
        for (const [place, [others, second]] of ENDED.entries()) {
          const joint = JOINTS[(at + place) % JOINTS.length] ?? ' and ';
          // "From a and b to c" is one.
          const isMixed = (!first.from || !first.to) !== (!second.from || !second.to);
          if (isMixed && !joint.includes('except')) continue;
          const [a, b] = [meant(whole, first), meant(whole, second)];
          const of: typeof a = (src, dst, port) => (a(src, dst, port) === 'left' ? 'left' : b(src, dst, port));
          // Ports beside one of them alone may hold for both.
          if (!one || !checked(`${order} except ${words}${joint}${others}`, one, of, first)) continue;
          expect(joint.includes('except') || !first.ports === !second.ports, `${words}${joint}${others}`).toBe(true);
          planned += 1;
        }
      expect(planned).toBeGreaterThan(2);
    },
  );

  it.each([
    'separate prod from staging except web-1 to web-2 and db-1 to db-2',
    'separate prod from staging except web-1 to web-2 on 443, and db-1 to db-2 on 5432',
    'separate prod from staging except ssh from web-1 to web-2, except db-1 to db-2',
    'isolate the databases except from web-1 on 5432 and from prom on 443',
    'isolate db-1 except from web-1 and to prom',
    'block everyone from db except ssh from alice-laptop and 5432 from web-1',
  ])('"%s" is planned', (intent) => {
    expect(planByGrammar({ intent, state: stateWith(...PEERS), now: NOW })).toMatchObject({ outcome: 'changes' });
  });

  it.each([
    ['web-1 to web-2 on 443 and db-1 to db-2', ['on 443 except db-1 to db-2 on 443/tcp', 'on 443 except db-1 to db-2']],
    ['web-1 to web-2 and db-1 to db-2 on 22', ['web-2 on 22/tcp except db-1', 'web-2 except db-1 to db-2 on 22']],
    ['web-1 to web-2 and db-2 and db-1 to db-2', ['web-1 to web-2 and db-2 except db-1 to db-2']],
  ])('"… except %s" is asked about, with each reading as a choice that is planned', (words, readings) => {
    const plan = (intent: string) => planByGrammar({ intent, state: stateWith(...PEERS), now: NOW });
    const answer = plan(`separate prod from staging except ${words}`);
    if (answer.outcome !== 'refused') throw new Error('planned');
    for (const one of readings) expect(answer.choices).toContainEqual(expect.stringContaining(one));
    for (const choice of answer.choices) expect(plan(choice).outcome).toBe('changes');
  });
});

describe('who is left out, or may do something alone', () => {
  it.each([
    ['only role=web may reach role=db on 5432, except web-2', 'web-3', { role: 'web' }, true],
    ['only role=web,env=prod may reach role=db,env=prod on 5432', 'web-3', { role: 'web', env: 'prod' }, true],
    ['only role=web,env=prod may reach role=db,env=prod on 5432', 'web-3', { role: 'web' }, false],
    ['only role=web,env=prod may reach role=db,env=prod on 5432', 'api-3', { env: 'prod' }, false],
    ['block everyone from db-1 except on 5432 from role=web,env=prod', 'web-3', { role: 'web', env: 'prod' }, true],
  ])('of "%s" is told by labels: %s that joins later with %o is let in: %s', (intent, name, labels, isOpen) => {
    const [state] = STATES;
    const answer = planByGrammar({ intent, state: state ?? stateWith(), now: NOW });
    if (answer.outcome !== 'changes' || !state) throw new Error(JSON.stringify(answer));
    const { after } = planChanges(state, answer.changes, NOW);
    const later = { ...after, peers: new Map([...after.peers, [name, peer(name, { labels })]]) };
    const reach = compile(modelOf(later, NOW));
    expect(reach.verdict(name, 'db-1', 'TCP', 5432)).toBe(isOpen);
    expect(reach.verdict('web-1', 'db-1', 'TCP', 5432)).toBe(true);
    expect(reach.verdict('web-2', 'db-1', 'TCP', 5432)).toBe(false);
  });

  it.each(['db-1 should be unreachable from staging', 'make db-1 unreachable from env=staging'])(
    '"%s" closes it, and offers nothing that opens it',
    (intent) => {
      const answer = planByGrammar({ intent, state: stateWith(...PEERS), now: NOW });
      expect(answer).toMatchObject({ outcome: 'changes', summary: 'Forbid env=staging to reach db-1.' });
    },
  );

  it.each([
    ['prevent role=laptop from reaching role=db unless it is alice-laptop', /except alice-laptop$/],
    ['separate prod from staging except alice-laptop to db-1', /except/],
    ['lock down web-1 so that only the databases reach it on 5432', /only|limit|except/],
  ])('no choice for "%s" drops what is left out', (intent, kept) => {
    const answer = planByGrammar({ intent, state: stateWith(...PEERS), now: NOW });
    if (answer.outcome !== 'refused') throw new Error('planned');
    for (const choice of answer.choices) expect(choice).toMatch(kept);
  });
});
