import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredRecord } from '../../core/base/record.ts';
import { planChanges } from '../../core/changes/changes.ts';
import { effectOf } from '../../core/effect/effect.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { runs } from '../../test/kits/runs.ts';
import { planByGrammar } from './builtin.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const WEB = peer('web-1', { labels: { role: 'web' } });
const DB = peer('db-1', { labels: { role: 'db' } });
const CLOSED = policy('base', { action: 'DENY', peerSelector: {} });

const plan = (intent: string, ...records: readonly StoredRecord[]) =>
  planByGrammar({ intent, state: stateWith(...records), now: NOW });

describe('names in an intent are names', () => {
  it.each([
    'everyone',
    'and-nobody-else',
    'web.and.everyone',
    'on-port-5432',
    'Ignore-previous-instructions',
    'for-2-hours',
    '--',
  ])('a peer that calls itself %s widens nothing that does not name it', (hostile) => {
    const state = stateWith(WEB, DB, CLOSED, peer(hostile, { labels: { role: 'guest' } }));
    const answer = planByGrammar({ intent: 'let web reach the database on port 5432', state, now: NOW });
    if (answer.outcome !== 'changes') throw new Error(JSON.stringify(answer));
    const { after } = planChanges(state, answer.changes, NOW);
    const effect = effectOf(compile(modelOf(state, NOW)), compile(modelOf(after, NOW)));
    expect(effect.groups).toEqual([
      {
        src: ['web-1'],
        dst: ['db-1'],
        pairs: 1,
        opened: [{ protocol: 'TCP', from: 5432, to: 5432 }],
        closed: [],
        open: [{ protocol: 'TCP', from: 5432, to: 5432 }],
      },
    ]);
  });

  it('asks when a word means everyone and is also the name of a peer', () => {
    expect(plan('let everyone reach the database', DB, WEB, peer('everyone'))).toMatchObject({
      outcome: 'refused',
      questions: [expect.stringContaining('peer everyone')],
    });
  });

  it('asks when a word is a label of some peers and the name of another', () => {
    expect(plan('let web reach the database', WEB, DB, peer('database'))).toMatchObject({
      outcome: 'refused',
      reason: '"the database" has more than one meaning.',
      questions: ['Which one: role=db (1 peers), peer database?'],
    });
  });

  it('asks when a word is the value of two labels of different peers', () => {
    const other = peer('x-1', { labels: { app: 'web' } });
    expect(plan('let web reach db', WEB, DB, other)).toMatchObject({
      outcome: 'refused',
      questions: ['Which one: role=web (1 peers), app=web (1 peers)?'],
    });
  });

  it('refuses to single out a peer by a label that another one carries', () => {
    const impostor = peer('x-1', { labels: { peer: 'web-1' } });
    expect(plan('isolate web-1', WEB, impostor)).toMatchObject({ outcome: 'refused' });
  });

  it('closes nobody off by an ALLOW on peers of which some are open to all', () => {
    const closed = policy('one', { action: 'ALLOW', peerSelector: { matchLabels: { zone: 'a' } }, ingress: [] });
    const second = peer('db-2', { labels: { role: 'db', zone: 'a' } });
    expect(plan('let web reach db', WEB, DB, second, closed)).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('Some of "role=db" are open to everyone today: "db-1"'),
    });
  });

  it('never throws and never answers changes for text that is no sentence of it', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        const answer = plan(`zz ${text}`, WEB, DB);
        expect(answer.outcome).toBe('refused');
      }),
      { numRuns: 300 },
    );
  });

  it('reads hostile repetition in a bounded time', () => {
    const long = `let ${'to reach '.repeat(180)}db on port 1`;
    expect(plan(long, WEB, DB).outcome).toBe('refused');
  });
});

describe('any text up to the limit', () => {
  const WORDS = [
    ...[
      'let',
      'web',
      'db',
      'reach',
      'to',
      'from',
      'and',
      'or',
      ',',
      ';',
      'except',
      'but',
      'only',
      'on',
      'port',
      '443',
      '5432/tcp',
      'for',
      '2',
      'hours',
    ],
    ...[
      'until',
      'tomorrow',
      'block',
      'isolate',
      'everyone',
      'nobody',
      'else',
      'access',
      'may',
      'must not',
      'not',
      'between',
      'each other',
      'also',
      'the',
      'all',
    ],
    ...[
      'revoke',
      'limit',
      'policy',
      'delete',
      'undo',
      'it',
      'same',
      'peer',
      'web-1',
      'role=web',
      '10.0.0.0/8',
      '"',
      "'s",
      '?',
      '.',
      'ssh',
      'tcp',
      '-',
      '=',
      ':',
    ],
  ];
  const sentence = fc
    .array(fc.constantFrom(...WORDS), { maxLength: 60 })
    .map((words) => words.join(' ').slice(0, 2_000));

  it('ends in an answer, and one that plans something says what it expects', () => {
    fc.assert(
      fc.property(sentence, fc.array(sentence, { maxLength: 2 }), (intent, history) => {
        const answer = planByGrammar({ intent, history, state: stateWith(WEB, DB, CLOSED), now: NOW });
        if (answer.outcome !== 'changes') return;
        expect(answer.expectations.length + (answer.records?.length ?? 0)).toBeGreaterThan(0);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it.each([
    'a ',
    'let ',
    'to reach ',
    'and ',
    ', ',
    '"',
    'port ',
    '1-',
    'for an hour and ',
    'except ',
    "'s ",
    'role=',
    'é',
  ])(
    'that repeats %j is read in a bounded time',
    (piece) => {
      expect(plan(piece.repeat(2_000 / piece.length), WEB, DB).outcome).toBe('refused');
      plan(`let web reach ${piece.repeat(1_900 / piece.length)} db`, WEB, DB);
    },
    10_000,
  );

  it('that is longer is refused', () => {
    expect(plan('let web reach db'.padEnd(2_001, ' x'), WEB, DB)).toMatchObject({
      reason: expect.stringContaining('longer than'),
    });
  });

  it.each([
    ['can web reach db?', /is a question/],
    ['web cannot reach db', /tells what is/],
    ['do not block web from db', /what should not be done/],
    ['let web not reach db', /what "not" is about/],
    ['let web reach db on 5432 and cache', /holds for it too/],
    ['let web reach db between 9:00 and 17:00', /says when it should hold/],
    ['let web reach db. make it so', /./],
    ['grant db to web', /both directions/],
    ['alow web to reach db', /Did you mean|no verb/],
  ])('"%s" is no plan', (intent, reason) => {
    expect(plan(intent, WEB, DB)).toMatchObject({ outcome: 'refused', reason: expect.stringMatching(reason) });
  });
});
