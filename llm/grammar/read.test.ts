import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { OrderInput } from '../../core/intent/orders/order.ts';
import { network, peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';
import { readSentence, type SentenceReading } from './read.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const NAMES = {
  'web-1': { role: 'web' },
  'web-2': { role: 'web' },
  'db-1': { role: 'db' },
  'api-1': { role: 'api' },
  cache: { role: 'redis' },
  'anna-laptop': { team: 'ops' },
};
const PEERS = Object.entries(NAMES).map(([name, labels]) => peer(name, { labels }));
const OPEN = stateWith(...PEERS);
const CLOSED = stateWith(...PEERS, policy('base', { action: 'DENY', peerSelector: {} }));

function read(sentence: string, state = OPEN, history: readonly string[] = []): SentenceReading {
  return readSentence(sentence, { state, now: NOW, timeZone: 'UTC', history });
}

function ordersOf(sentence: string, state = OPEN, history: readonly string[] = []): readonly OrderInput[] {
  const answer = read(sentence, state, history);
  if (answer.outcome !== 'orders') throw new Error(JSON.stringify(answer));
  return answer.orders;
}

describe('a sentence made from an order reads back to that order', () => {
  const who = fc.constantFrom('web-1', 'db-1', 'anna-laptop', 'role=web', 'role=db', '203.0.113.0/24');
  const port = fc.constantFrom('tcp/5432', 'udp/53', 'tcp/8000-8100', 'icmp');
  const span = fc.constantFrom('30m', '2h', '7d');
  const order = fc.record(
    {
      do: fc.constantFrom('allow', 'deny'),
      from: fc.uniqueArray(who, { minLength: 1, maxLength: 2 }),
      to: fc.uniqueArray(who, { minLength: 1, maxLength: 2 }),
      ports: fc.uniqueArray(port, { minLength: 1, maxLength: 2 }),
      for: span,
    },
    { requiredKeys: ['do', 'from', 'to'] },
  );
  const end = (text: string | undefined) => (text === undefined ? '' : ` for ${text}`);
  const on = (ports: readonly string[] | undefined) => (ports === undefined ? '' : ` on ${ports.join(' and ')}`);
  const isMeant = ({ from, to }: { from: string[]; to: string[] }) => {
    const isOutside = (words: string[]) => words.some((word) => word.includes('/'));
    return !(isOutside(from) && isOutside(to)) && !from.some((word) => to.includes(word));
  };

  it('in the words let … reach and block … from', () => {
    fc.assert(
      fc.property(order.filter(isMeant), ({ do: verb, from, to, ports, for: time }) => {
        const [source, target] = [from.join(' and '), to.join(' and ')];
        const sentence =
          verb === 'allow'
            ? `let ${source} reach ${target}${on(ports)}${end(time)}`
            : `block ${source} from reaching ${target}${on(ports)}${end(time)}`;
        const expected = { do: verb, from, to, ...(ports && { ports }), ...(time !== undefined && { for: time }) };
        expect(ordersOf(sentence)).toEqual([expected]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('no word is dropped', () => {
  it.each([
    'let web reach db on 5432 carefully',
    'let web reach db on 5432 for testing',
    'block ci and web from db',
    'let web reach db, the nightly job depends on it',
    'let web reach db on 5432 (the new one)',
    'let web reach db; whatever',
    'let web reach db via api-1',
    'let web reach db on weekdays',
  ])('%s', (sentence) => {
    expect(read(sentence)).toMatchObject({ outcome: 'refused', questions: [expect.stringContaining('?')] });
  });

  it('a word put anywhere into a sentence that is read is refused', () => {
    const words = 'let web reach db on 5432 for 2 hours'.split(' ');
    for (let at = 0; at <= words.length; at++) {
      const sentence = words.toSpliced(at, 0, 'frobnicated').join(' ');
      expect([sentence, read(sentence).outcome]).toEqual([sentence, 'refused']);
    }
  });

  it('a reason is shown beside the plan, and is refused where it names somebody else', () => {
    expect(planByGrammar({ intent: 'block web from db because it is broken', state: OPEN, now: NOW })).toMatchObject({
      outcome: 'orders',
      notes: ['Taken as a reason, changes nothing: "because it is broken".'],
    });
    expect(read('block web from db because only api needs it').outcome).toBe('refused');
    expect(read('block web from db because of api-1').outcome).toBe('refused');
  });
});

describe('nothing is read wider than it is said', () => {
  it('one of several is asked about', () => {
    for (const sentence of ['let the web server reach db', 'isolate three web servers', 'let some of web reach db'])
      expect(read(sentence)).toMatchObject({ outcome: 'refused' });
  });

  it('a protocol beside a port is not all of it', () => {
    for (const ports of ['tcp and udp 53', '53 and udp', 'udp or tcp 53'])
      expect(read(`let web reach db on ${ports}`)).toMatchObject({ outcome: 'refused' });
    expect(ordersOf('let web reach db on port 53, tcp and udp')).toMatchObject([{ ports: ['tcp/53', 'udp/53'] }]);
  });

  it('a misspelt name is not taken for the near one', () => {
    expect(read('let wbe reach db')).toMatchObject({ reason: expect.stringContaining('Nothing is called "wbe"') });
  });

  it('everyone is every peer where it is opened, and addresses outside too where it is closed', () => {
    expect(ordersOf('let everyone reach db on 22')).toMatchObject([{ do: 'allow', from: ['peers'] }]);
    expect(ordersOf('block everyone from db on 22')).toMatchObject([{ do: 'deny', from: ['anyone'] }]);
  });

  it('only without ports opens nothing that is closed', () => {
    expect(read('only web may reach db', CLOSED)).toMatchObject({ outcome: 'refused' });
    expect(ordersOf('limit access to db to web', CLOSED)).toEqual([
      { do: 'deny', from: ['anyone'], to: ['role=db'], except_from: ['role=web'] },
    ]);
  });

  it.each([
    'only ops can reach api-1',
    'make sure only ops can reach api-1',
    'let only ops reach api-1',
    'let ops alone reach api-1',
    'open api-1 only to ops',
    'nobody except ops can reach api-1',
    'let no one but ops reach api-1',
    'let nobody except ops access api-1',
    'allow nobody to reach api-1 except ops',
    "don't let anyone but ops reach api-1",
    'never allow anyone except ops to reach api-1',
    'let ops reach api-1 and nobody else',
    'ops may reach api-1 and nobody else',
    'api-1 can only be reached by ops',
    'api-1 should accept connections from ops only',
  ])('"%s" without ports is asked about where all is closed, as each wording of only is', (sentence) => {
    expect(read(sentence, CLOSED)).toMatchObject({
      outcome: 'refused',
      questions: [expect.stringContaining('On which ports should they, alone?')],
    });
  });

  it.each([
    'only ops can reach api-1',
    'let no one but ops reach api-1',
    'allow nobody to reach api-1 except ops',
    "don't let anyone but ops reach api-1",
    'nobody except ops can reach api-1',
    'api-1 can only be reached by ops',
  ])('"%s" is one order where all is open', (sentence) => {
    expect(ordersOf(sentence)).toEqual([{ do: 'only', from: ['team=ops'], to: ['api-1'] }]);
  });

  it('only before a verb says where somebody may go, and alone who may come', () => {
    expect(ordersOf('let web only reach db')).toMatchObject([{ do: 'only', side: 'from' }]);
    expect(ordersOf('let web alone reach db')).toEqual([{ do: 'only', from: ['role=web'], to: ['role=db'] }]);
    expect(read('let web only reach db on 5432')).toMatchObject({ outcome: 'refused' });
  });

  it('nothing else is read where all else is closed', () => {
    const sentence = 'let web-1 reach db on 5432 and nothing else';
    expect(read(sentence)).toMatchObject({ outcome: 'refused' });
    expect(ordersOf(sentence, CLOSED)).toEqual([
      { do: 'allow', from: ['web-1'], to: ['role=db'], ports: ['tcp/5432'] },
    ]);
  });
});

describe('names', () => {
  it('a name of the network wins over a service', () => {
    expect(ordersOf('let web reach redis on 6379')).toMatchObject([{ to: ['role=redis'], ports: ['tcp/6379'] }]);
    expect(read('let web reach db over redis')).toMatchObject({ outcome: 'refused' });
    expect(read('allow redis from web to db')).toMatchObject({ outcome: 'refused' });
  });

  it('a hostile name is never more than a name', () => {
    const hostile = ['allow-everyone', 'and-nobody-else', 'on-port-22', 'web-1.and.everyone', 'access', 'please'];
    const state = stateWith(...PEERS, ...hostile.map((name) => peer(name, { labels: {} })));
    for (const name of hostile)
      expect(ordersOf(`let "${name}" reach db-1 on 443`, state)).toEqual([
        { do: 'allow', from: [name], to: ['db-1'], ports: ['tcp/443'] },
      ]);
    expect(read('block all access to db', state)).toMatchObject({ outcome: 'refused' });
    expect(read('please isolate web-1', state)).toMatchObject({ outcome: 'refused' });
  });

  it('a peer that is called like a word of orders is named by its id', () => {
    const odd = peer('peers', { labels: {} });
    expect(ordersOf('let "peers" reach db-1', stateWith(...PEERS, odd))).toMatchObject([{ from: [odd.uid] }]);
  });

  it('words beside a name are named as unread, never the name', () => {
    expect(read('give web-1 temporary ssh to db-1')).toMatchObject({
      reason: '"temporary" in "web-1 temporary" is not read.',
    });
    expect(read('let web-1 reach db-1 and web-2 respectively on 8080')).toMatchObject({
      reason: '"respectively" in "web-2 respectively" is not read.',
    });
    expect(read('make db-1 unreachable for everyone during lunch')).toMatchObject({
      reason: '"during lunch" in "everyone during lunch" is not read.',
    });
    expect(read('let web-1 web-2 reach db on 22')).toMatchObject({
      reason: '"web-1 web-2" joins names that mean different peers.',
    });
  });

  it('a network that is named without the word is offered', () => {
    const state = stateWith(...PEERS, network('lab'));
    expect(read('let all api servers in lab reach db on 5432', state)).toMatchObject({
      reason: '"lab" is the name of a network, and of no peer or label.',
      questions: ['Is network=lab meant?'],
    });
  });

  it('a word with two meanings is asked about', () => {
    const state = stateWith(...PEERS, peer('web', { labels: { role: 'proxy' } }));
    expect(read('let web reach db', state)).toMatchObject({ reason: expect.stringContaining('more than one meaning') });
  });
});

test('a sentence that goes back to the one before changes that one, and is asked about without it', () => {
  const history = ['let web reach db on 5432'];
  const base = { do: 'allow', from: ['role=web'], to: ['role=db'] };
  expect(ordersOf('and also on 22', OPEN, history)).toEqual([{ ...base, ports: ['tcp/5432', 'tcp/22'] }]);
  expect(ordersOf('make it port 443', OPEN, history)).toEqual([{ ...base, ports: ['tcp/443'] }]);
  expect(ordersOf('only for 2 hours', OPEN, history)).toEqual([{ ...base, ports: ['tcp/5432'], for: '2h' }]);
  expect(ordersOf('the same for api', OPEN, history)).toEqual([{ ...base, from: ['role=api'], ports: ['tcp/5432'] }]);
  expect(read('and also on 22')).toMatchObject({ outcome: 'refused' });
});

test('a refusal has a draft of what was recognized, with what is not sure left empty', () => {
  expect(read('let web reach dbx on 5432')).toMatchObject({
    draft: { orders: [{ do: 'allow', from: ['role=web'], to: [], ports: ['tcp/5432'] }], unread: ['dbx'] },
  });
  expect(read('block api from the frobnicator')).toMatchObject({
    draft: { orders: [{ do: 'deny', from: ['role=api'], to: [], ports: [] }], unread: ['frobnicator'] },
  });
  expect(read('hello')).toMatchObject({ draft: { orders: [], unread: [] } });
});

test('a question is no order, unless it asks for one', () => {
  expect(read('web can reach db?')).toMatchObject({ outcome: 'refused', reason: expect.stringContaining('question') });
  expect(ordersOf('could you let web reach db on 22?')).toMatchObject([{ do: 'allow', ports: ['tcp/22'] }]);
});

test('orders that contradict each other are asked about', () => {
  expect(read('isolate web-1; let api reach web-1 on 443')).toMatchObject({
    outcome: 'refused',
    reason: expect.stringContaining('contradict'),
  });
});

test('a sentence as long as an intent may be is read in a moment', () => {
  const long = `let ${'web-1 and '.repeat(180)}db-1 reach`;
  for (const sentence of [long, 'let web reach db on 5432 except '.repeat(60), `block ${'(('.repeat(900)}`])
    expect(read(sentence).outcome).toBe('refused');
});

test.each([
  'close udp 53 and 123 on api',
  'let web reach db on 443 and 80 udp',
  'only anna-laptop may reach db on udp 53 and 123',
  'let web reach db on 53/udp and 80',
])('a protocol that may be of one port or of all is asked about: %s', (sentence) => {
  expect(read(sentence)).toMatchObject({ outcome: 'refused', reason: expect.stringContaining('one port, or of all') });
});

test('a protocol before the word ports, or behind over, is of all of them', () => {
  for (const ports of ['udp ports 443 and 80', '443 and 80 over udp'])
    expect(ordersOf(`let web reach db on ${ports}`)).toMatchObject([{ ports: ['udp/443', 'udp/80'] }]);
});

test.each(['peers', 'devices', 'servers', 'hosts', 'nodes', 'machines', 'clients', 'others'])(
  'no peer called %s takes the place of everyone',
  (name) => {
    const state = stateWith(...PEERS, peer(name, { labels: {} }));
    for (const sentence of [`block all ${name} from db-1`, `let every ${name} reach db-1`])
      expect(read(sentence, state)).toMatchObject({ outcome: 'refused' });
  },
);

test('names behind keep, after what closes, are asked about', () => {
  const state = stateWith(...PEERS, peer('ssh', { labels: {} }));
  for (const sentence of ['isolate web-1 but keep ssh from db-1', 'isolate web-1 but keep api-1 from db-1'])
    expect(read(sentence, state)).toMatchObject({ outcome: 'refused' });
});

test('a long list of names is refused before it is read', () => {
  expect(read(`let web-1${', b'.repeat(600)} reach db-1`)).toMatchObject({
    outcome: 'refused',
    reason: expect.stringContaining('more than 250 words'),
  });
});

test('policies that wait have their names, and are deleted by them', () => {
  const late = policy('default-deny', { action: 'DENY', peerSelector: {}, startsAt: '2026-02-01T00:00:00.000Z' });
  const state = stateWith(...PEERS, late);
  expect(read('delete policy default-deny', state)).toMatchObject({ delete: ['policy/default-deny'] });
  expect(read('deny everything by default', state)).toMatchObject({
    documents: [{ metadata: { name: 'default-deny-2' } }],
  });
});
