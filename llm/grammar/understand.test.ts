import { describe, expect, it } from 'vitest';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';
import { Coverage, WITHOUT_MEANING } from './coverage.ts';
import { recognise } from './lexicon.ts';
import { tokenise } from './tokens.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const STATE = stateWith(
  peer('web-1', { labels: { role: 'web' } }),
  peer('web-2', { labels: { role: 'web' } }),
  peer('api-1', { labels: { role: 'api' } }),
  peer('db-1', { labels: { role: 'db' } }),
  peer('laptop-1', { labels: { team: 'ops' } }),
);
const plan = (intent: string, state = STATE) => planByGrammar({ intent, state, now: NOW });

describe('every word', () => {
  it.each(
    'except,but,only,nobody,all but,unless,other than,apart from,keep,still,just,not,without,if,when,while,until,instead,without,never,else,besides'.split(
      ',',
    ),
  )('such as "%s" restricts, and is never taken for one without meaning', (text) => {
    for (const { sym } of recognise(tokenise(text))) expect(sym && WITHOUT_MEANING.has(sym)).toBeFalsy();
  });

  it('that no part of the reading uses is quoted in a question', () => {
    const tokens = recognise(tokenise('please block api from web but softly'));
    const coverage = new Coverage();
    coverage.use(tokens.slice(0, 5));
    expect(() => coverage.requireAll(tokens)).toThrow(/"but softly"/);
    coverage.use(tokens);
    expect(() => coverage.requireAll(tokens)).not.toThrow();
  });

  it.each([
    'let web reach db on 5432 but',
    'let web reach db on 5432 except',
    'let web reach db on 5432 instead',
    'let web reach db on 5432 unless',
    'let web reach db on 5432 while',
    'let web still reach db on 5432 but not',
    'let web reach db on 5432 without',
    'let web reach db on 5432 until',
    'let web reach db on 5432 only',
    'let web not reach db on 5432',
    'block api from web but web-1 on 443',
    'isolate web-1 but keep it',
    'isolate web-1 except',
    'let the other web servers reach db',
    'block new connections from web to db',
    'let web reach db on weekdays',
    'let web reach db on 5432 slowly',
  ])('counts: "%s" is no plan', (intent) => {
    expect(plan(intent)).toMatchObject({ outcome: 'refused' });
  });
});

describe('a question', () => {
  it.each([
    ['let wbe reach db on 5432', ['let web reach db on 5432']],
    ['let web reach db on 5432 temporarily', ['let web reach db on 5432 for 1 hour']],
    [
      'block api from web except web-1 on 443',
      ['block api from web except 443/tcp to web-1', 'block api from web on 443/tcp except web-1'],
    ],
    ['isolate web-1 except laptop-1', ['isolate web-1 except from laptop-1', 'isolate web-1 except to laptop-1']],
    ['deny ssh access to ops', ['block ops from everyone on 22/tcp', 'block all traffic to ops on 22/tcp']],
    ['isolate web-1. Let ops ssh into web-1.', ['isolate web-1, but let ops ssh into web-1']],
    ['web may only reach db on 5432', ['only web may reach db on 5432/tcp']],
    ['let web reach db; it must not reach api', ['let web reach db; web must not reach api']],
  ])('about "%s" offers %j', (intent, choices) => {
    expect(plan(intent)).toMatchObject({ choices: expect.arrayContaining(choices) });
  });

  it('quotes the words that are not understood, and lists no sentences', () => {
    expect(plan('let web frobnicate db')).toMatchObject({
      reason: expect.stringMatching(/"let web frobnicate db" is not understood: .*"frobnicate"/),
    });
  });

  it('comes with what was understood, in terms and in the words of the user', () => {
    expect(plan('let wbe reach db on 5432; isolate api-1')).toMatchObject({
      partial: {
        changes: expect.arrayContaining([expect.objectContaining({ name: 'isolate-api-1' })]),
        expectations: expect.arrayContaining([
          { src: 'wbe', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'allow' },
        ]),
      },
    });
  });

  it('advises to delete a policy alone only where its end opens no more than is asked for', () => {
    const deny = (from: object) =>
      policy('no-web', { action: 'DENY', peerSelector: { matchLabels: { role: 'db' } }, ingress: [from] });
    const web = { from: [{ peerSelector: { matchLabels: { role: 'web' } } }] };
    const exact = stateWith(...STATE.peers.values(), deny(web));
    expect(plan('let web reach db', exact)).toMatchObject({ choices: ['delete the policy no-web'] });
    const again = 'delete the policy no-web; block';
    expect(plan('let web reach db on 22', exact)).toMatchObject({
      choices: [`${again} role=web from role=db, but let role=web reach role=db on 22/tcp`],
    });
    expect(plan('let web reach db', stateWith(...STATE.peers.values(), deny({})))).toMatchObject({
      choices: [`${again} everyone from role=db, but let role=web reach role=db`],
    });
  });

  it.each(['erlaube web den Zugriff auf die db', 'autorise web pour la db', 'разреши web доступ', '允许web访问db'])(
    'in another language than English is one sentence: %s',
    (intent) => {
      expect(plan(intent)).toMatchObject({
        reason: 'Only English is understood here, unless a model planner is configured.',
      });
    },
  );
});

describe('a word that restricts', () => {
  const SAID = [
    'let web reach db on 5432',
    'block api from db',
    'isolate web-1 except ssh from laptop-1',
    'only web may reach db on 5432',
  ];
  const WORDS =
    'except,but,only,nobody,unless,other than,apart from,keep,not,without,if,when,while,until,instead,never,else,nothing,new,other,most,inbound,weekdays,no'.split(
      ',',
    );

  it.each(SAID)('put anywhere into "%s" gives another plan or a question, never the same plan', (intent) => {
    const changesOf = (text: string) => {
      const answer = plan(text);
      return answer.outcome === 'changes' ? JSON.stringify(answer.changes) : undefined;
    };
    const unchanged = changesOf(intent);
    expect(unchanged).toBeDefined();
    const words = intent.split(' ');
    const dropped = WORDS.flatMap((word) =>
      words
        .map((_, at) => [...words.slice(0, at), word, ...words.slice(at)].join(' '))
        .concat(`${intent} ${word}`)
        .filter((text) => changesOf(text) === unchanged),
    );
    expect(dropped).toEqual([]);
  });
});
