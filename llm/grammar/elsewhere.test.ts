import { describe, expect, it } from 'vitest';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const PEERS = [
  peer('web-1', { labels: { role: 'web' } }),
  peer('db-1', { labels: { role: 'db' } }),
  peer('api-1', { labels: { role: 'api' } }),
  peer('lap-1', { labels: { device: 'laptop' } }),
];
const STATES = [stateWith(...PEERS), stateWith(...PEERS, policy('base', { action: 'DENY', peerSelector: {} }))];

function refused(intent: string) {
  return STATES.map((state) => {
    const answer = planByGrammar({ intent, state, now: NOW });
    if (answer.outcome !== 'refused') throw new Error(`${intent} is ${answer.outcome}`);
    return answer;
  });
}

const QUESTIONS: readonly (readonly [tool: RegExp, questions: readonly string[]])[] = [
  [
    /ask check_connectivity,/,
    [
      'who can reach db?',
      'what can web-1 talk to',
      'can web reach db',
      'show who can reach db',
      'does web have access to db?',
    ],
  ],
  [
    /ask check_connectivity_at/,
    ['could web reach db yesterday?', 'was web able to reach db last week?', 'could web-1 reach db-1 at 10:00?'],
  ],
  [
    /ask explain_denial/,
    ["why can't web reach db?", 'why can web not reach db', 'explain why web-1 cannot reach db-1'],
  ],
  [/ask diff_snapshots/, ['what changed yesterday?', 'what changed since monday', 'compare yesterday with now']],
  [/ask list_audit/, ['who changed the policy base?', 'show me the audit log', 'who approved the last change?']],
  [/ask list_peers/, ['is web-1 online?', 'which peers are offline?', 'list peers', 'what labels does web-1 have?']],
  [/ask list_policies/, ['show me the policies', 'what policies apply to db-1?']],
  [/ask get_peer_paths/, ['is web-1 using the relay?', 'which path does web-1 take to db-1?']],
  [/ask plan_network_change/, ['what happens if i block web from db?', 'simulate blocking web from db']],
];

describe('a question in the place of an order', () => {
  it.each(QUESTIONS.flatMap(([tool, all]) => all.map((one) => [one, tool] as const)))(
    '"%s" is answered with what answers it',
    (intent, tool) => {
      for (const { reason } of refused(intent)) expect(reason).toMatch(tool);
    },
  );

  it('of how an order is said is answered with the order', () => {
    for (const { choices } of refused('how do i let web reach db?')) expect(choices).toEqual(['let web reach db']);
  });
});

it.each([
  ['undo the label of web-1', /"undo the last change".*revert_network_change/],
  ['take back the label role=db of web-1', /"undo the last change".*revert_network_change/],
  ['label web-1 as role=db', /update_peer/],
  ['add label env=prod to web-1', /update_peer/],
  ['revert to revision 14', /revert_network_change/],
  ['never mind', /reject_workflow/],
  ['remove web-1 from the network', /delete_peer/],
  ['invite bob', /generate_join_token/],
])('an order that is none of policies says what carries it out: %s', (intent, tool) => {
  for (const { reason } of refused(intent)) expect(reason).toMatch(tool);
});

const ORDERS = [
  'let web reach db',
  'block web from db',
  'isolate web-1',
  'only web may reach db',
  'limit db to port 5432',
];
const WHEN = [
  'from tomorrow 9:00',
  'starting monday',
  'on weekdays',
  'every monday',
  'at night',
  'during business hours',
  'from 9 to 17',
  'in 2 hours',
  'next week',
  'daily',
  'from 2026-01-06',
];
const PATHS = ['via the relay', 'through api-1', 'over the gateway', 'by way of api', 'using the relay', 'directly'];

describe('a start, weekly hours or a path', () => {
  it.each(WHEN)('offers nothing that holds at once and for good: %s', (words) => {
    for (const order of ORDERS) for (const { choices } of refused(`${order} ${words}`)) expect(choices).toEqual([]);
  });

  it.each([
    ...WHEN.map((words) => [words, /says when it should hold/] as const),
    ...PATHS.map((words) => [words, /names a path/] as const),
  ])('is never dropped, in any order of which it is a part: %s', (words, reason) => {
    for (const order of ORDERS)
      for (const answer of refused(`${order} ${words}`)) {
        expect(answer.reason).toMatch(reason);
        expect(answer.reason).toContain(words);
        expect(answer.choices.filter((choice) => choice !== order)).toEqual([]);
      }
  });

  it('leaves an end, ports and services as they were', () => {
    for (const intent of [
      'let web reach db until 18:00',
      'let web reach db until monday',
      'let web reach db over ssh',
      'let web reach db on 80 through 90',
    ])
      expect(planByGrammar({ intent, state: STATES[1] as (typeof STATES)[1] & object, now: NOW }).outcome).toBe(
        'changes',
      );
  });
});

it.each(['future laptops', 'new laptops', 'any new device', 'newcomers', 'everyone who joins later'])(
  'who joins later and has no label of his own is asked about: %s',
  (who) => {
    for (const { reason, choices, questions } of refused(`block ${who} from db`)) {
      expect([reason, choices]).toEqual([expect.stringContaining('cannot be told from those of today'), []]);
      expect(questions).toEqual([expect.stringContaining('What tells them apart?')]);
    }
  },
);
