import { describe, expect, it } from 'vitest';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const PEERS = ['api-1', 'web-1', 'cache-1'].map((name, index) =>
  peer(name, { labels: { role: name.slice(0, -2) }, address: `10.96.0.${index + 1}` }),
);
const select = (role: string) => ({ matchLabels: { role } });
const IN_ONE_DIRECTION = policy('to-api', {
  action: 'ALLOW',
  peerSelector: select('api'),
  ingress: [{ from: [{ peerSelector: select('web') }], ports: [{ protocol: 'TCP', port: 8080 }] }],
});
const OUT = policy('out', { action: 'ALLOW', peerSelector: {}, egress: [{ to: ['*'] }] });
const plan = (intent: string, ...policies: ReturnType<typeof policy>[]) =>
  planByGrammar({ intent, state: stateWith(...PEERS, ...policies), now: NOW });

describe('"still"', () => {
  const INTENT = 'api-1 may not initiate connections to web-1, but web-1 may still reach api-1';

  it('opens nothing where some of it is closed today: it is asked about', () => {
    expect(plan(INTENT, IN_ONE_DIRECTION)).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('some of it is closed'),
    });
  });

  it('keeps what is open', () => {
    expect(plan(INTENT)).toMatchObject({ outcome: 'changes' });
  });
});

describe('"deny all by default"', () => {
  it('is asked about where it closes what policies allow in one direction', () => {
    expect(plan('deny all by default', IN_ONE_DIRECTION)).toMatchObject({
      summary: 'Deny everything that no policy allows in both directions.',
      questions: [expect.stringContaining('such as "web-1" to "api-1" by "to-api"')],
    });
  });

  it('is not where policies allow both directions, or nothing', () => {
    expect(plan('deny all by default', IN_ONE_DIRECTION, OUT)).not.toHaveProperty('questions');
    expect(plan('deny all by default')).not.toHaveProperty('questions');
  });
});

it('a bracket with protocols alone takes no port from the service before it', () => {
  expect(plan('dns (tcp and udp) from web-1 to cache-1')).toMatchObject({
    outcome: 'refused',
    reason: '"(tcp and udp)" names no port, and "dns" would be lost.',
  });
});

describe('words that turn a sentence', () => {
  const SHOP = Object.entries({
    'web-1': { role: 'web', env: 'prod' },
    'web-2': { role: 'web', env: 'test' },
    'db-1': { role: 'db', env: 'prod' },
    'db-2': { role: 'db', env: 'test' },
    'ci-1': { role: 'ci' },
    'ada-laptop': { role: 'laptop' },
  }).map(([name, labels], index) => peer(name, { labels, address: `10.96.0.${index + 1}` }));
  const OPEN = stateWith(...SHOP);
  const CLOSED = stateWith(...SHOP, policy('base', { action: 'DENY', peerSelector: {} }));
  const said = (intent: string, state = CLOSED) => planByGrammar({ intent, state, now: NOW });
  /** Plans that it makes or offers, by itself and by each choice. */
  const changesOf = (intent: string, state = CLOSED): readonly unknown[] => {
    const answer = said(intent, state);
    if (answer.outcome === 'changes') return answer.changes;
    if (answer.outcome !== 'refused') return [answer];
    return [...answer.choices, ...(answer.partial?.changes ?? [])];
  };

  it.each([
    'keep web reaching db on 5432',
    'keep prod reaching prod',
    'leave ci reaching prod on 22',
    'keep the web servers accessing the databases',
    'keep the internet reaching web on 443',
    'keep web talking to db',
    'keep web connecting to db on 5432',
  ])('change nothing where access is to be kept: %s', (intent) => {
    for (const state of [OPEN, CLOSED])
      expect(said(intent, state)).toMatchObject({
        outcome: 'changes',
        changes: [],
        expectations: [{ expect: 'allow' }],
      });
  });

  it('forbid only what is forbidden beside what is kept', () => {
    const answer = said('keep ci reaching web; block laptops from web', OPEN);
    expect(answer).toMatchObject({ outcome: 'changes', changes: [{ name: 'deny-laptop-to-web' }] });
  });

  it('still forbid where "from" says so', () => {
    expect(said('keep web from reaching db', OPEN)).toMatchObject({ changes: [{ spec: { action: 'DENY' } }] });
  });

  it.each([
    'nothing in test may reach anything in prod',
    'nothing in test may reach prod on 22',
    'web may reach nothing in test',
    'let nothing in test reach prod',
    'nothing to ssh web',
    'keep web off db',
    'keep db-1 open to web',
    'keep allowing web from db',
    'leave web from db',
    'limit ssh to ci',
    'limit postgres to web',
    'limit port 5432 to web',
    'restrict ssh to ci',
    'confine 5432 to web',
    'limit laptops to https',
    'withdraw the ban on ssh for ci',
    'remove the ban on web for ci',
    'cancel the ban on db for web',
    'keep access of web to db',
    'web, and only web, may reach db',
    'web, and only web, may reach db on 5432',
    'laptops may not only reach web on 443',
    'keep only web reaching db',
    'leave web talking to nothing but db',
  ])('are asked about, and nothing is offered that turns them back: %s', (intent) => {
    for (const state of [OPEN, CLOSED]) {
      const answer = said(intent, state);
      expect(answer).toMatchObject({ outcome: 'refused', questions: expect.arrayContaining([expect.any(String)]) });
      expect(JSON.stringify(answer)).not.toContain('Read as');
      expect(changesOf(intent, state)).toEqual([]);
    }
  });

  it.each([
    ['have web reaching db', ['let role=web reach role=db']],
    ['let db-1 be reached by web-1 only', ['let only web-1 reach db-1']],
    ['open ci to db on 5432', ['let ci reach db on 5432/tcp', 'let db reach ci on 5432/tcp']],
  ])('offer no choice that closes, or restricts the other end: %s', (intent, choices) => {
    expect(changesOf(intent)).toEqual(choices);
  });

  it.each([OPEN, CLOSED])('mean the same wherever "except" stands', (state) => {
    expect(changesOf('nobody may reach db except web', state)).toEqual(
      changesOf('nobody except web may reach db', state),
    );
  });

  it('are answered with a sentence that works, where a policy forbids a part', () => {
    const ONLY = policy('only-web', {
      action: 'DENY',
      peerSelector: select('db'),
      ingress: [
        { from: [{ peerSelector: { matchExpressions: [{ key: 'role', operator: 'NotIn', values: ['web'] }] } }] },
      ],
    });
    const state = stateWith(...SHOP, ONLY);
    expect(said('let ada-laptop reach db on 5432 for 2 hours', state)).toMatchObject({
      questions: [
        expect.stringContaining('press "Plan this change"'),
        expect.stringContaining('"delete the policy only-web; only <all who may> may reach <target> on <port>"'),
      ],
    });
    expect(said('delete the policy only-web; only web and ada-laptop may reach db on 5432', state)).toMatchObject({
      outcome: 'changes',
      changes: [{ action: 'delete', name: 'only-web' }, { action: 'create' }],
    });
  });
});
