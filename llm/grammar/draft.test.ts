import { expect, test } from 'vitest';
import type { DraftOrder } from '../../core/intent/plan/planner.ts';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { readSentence } from './read.ts';

const PEERS = Object.entries({
  'web-1': 'web',
  'web-2': 'web',
  'db-1': 'db',
  'api-1': 'api',
  'api-2': 'api',
  'worker-1': 'worker',
  'worker-2': 'worker',
  'laptop-anna': 'ops',
}).map(([name, role]) => peer(name, { labels: { role } }));
const STATE = stateWith(...PEERS, policy('base', { action: 'DENY', peerSelector: {} }));

function draftOf(intent: string) {
  const answer = readSentence(intent, { state: STATE, now: Date.UTC(2026, 0, 5, 12), timeZone: 'UTC' });
  if (answer.outcome !== 'refused') throw new Error(JSON.stringify(answer));
  return answer.draft;
}

const OPS_TO_WEB = { from: ['role=ops'], to: ['role=web'], ports: [] };
const UNCERTAIN: readonly (readonly [sentence: string, orders: readonly DraftOrder[]])[] = [
  ['neither web nor worker may reach db on 5432', []],
  ['web must reach api on 8080 and must not reach db', []],
  ['nobody except ops can reach api-1', [{ from: ['role=ops'], to: ['api-1'], ports: [] }]],
  ['let not only web but also ops reach api on 8080', []],
  ["let web and laptop-anna's devices reach api on 443", []],
  ['let web reach api on 443 not 80', []],
  ['let web reach api on 443 instead of 8080', [{ from: ['role=web'], to: ['role=api'], ports: [] }]],
  ['let web reach api on http2', [{ from: ['role=web'], to: ['role=api'], ports: [] }]],
  ['worker-1 can only be reached by ops', [{ from: ['role=ops'], to: ['worker-1'], ports: [] }]],
  ['db-1 should accept connections from api only', [{ from: ['role=api'], to: ['db-1'], ports: [] }]],
  ['db no longer needs to be reached by api', []],
  ['block all but ssh from ops to web', []],
  ['let worker-1 or worker-2 reach db on 5432', [{ from: [], to: ['role=db'], ports: [] }]],
  ['let one of the workers reach db on 5432', []],
  ['let web-1 reach api-1 and web-2 reach api-2 on 8080', []],
  ['let web-1 and web-2 reach api-1 and api-2 respectively on 22', [{ from: ['web-1', 'web-2'], to: [], ports: [] }]],
  ['except for api-1, no api may reach db on 5432', []],
  ['let ops reach web on 22 for 2 hours starting tomorrow', []],
  [
    'let ops reach web for 2 hours starting tomorrow',
    [{ ...OPS_TO_WEB, to: [], for: '', starts: '2026-01-06T00:00:00Z' }],
  ],
  ['let ops reach web on 22 but only until 18:00', [{ ...OPS_TO_WEB, to: [], until: '2026-01-05T18:00:00Z' }]],
  ['let web (port 80) reach db', []],
  ['let web reach db on 5432 and api', []],
  ['let ops reach web on 22 for the weekend', []],
  ['let ops reach web for the weekend', [{ ...OPS_TO_WEB, for: '' }]],
];

test.each(UNCERTAIN)('"%s" has a draft of its certain parts alone, without a verb', (sentence, orders) => {
  expect(draftOf(sentence).orders).toEqual(orders);
});

test.each([
  ['let web reach db on 5432 from tomorrow 9:00', '2026-01-06T09:00:00Z'],
  ['tomorrow at 9:00 let web reach db on 5432', '2026-01-06T09:00:00Z'],
  ['let web reach db on 5432 starting friday 8:00 until friday 18:00', '2026-01-09T08:00:00Z'],
  ['let web reach dbx on 5432 until friday 18:00', undefined],
  ['let web reach dbx on 5432', undefined],
])('"%s" is refused with the field that says when it begins', (intent, begin) => {
  const answer = readSentence(intent, { state: STATE, now: Date.UTC(2026, 0, 5, 12), timeZone: 'UTC' });
  const said = answer.outcome === 'refused' ? answer.questions.join(' ') : 'read';
  expect(said.includes(begin === undefined ? '--starts' : `--starts ${begin})`)).toBe(begin !== undefined);
  expect(said).not.toBe('read');
});

test('a sentence in which only a name is unknown has the verb, the ports and the end', () => {
  expect(draftOf('let web reach dbx on 5432 for 2 hours')).toEqual({
    orders: [{ do: 'allow', from: ['role=web'], to: [], ports: ['tcp/5432'], for: '2h' }],
    unread: ['dbx'],
  });
});

test('a clause that is not read takes the verb from the draft of the others', () => {
  expect(draftOf('let web reach dbx on 5432; frobnicate the api')).toEqual({
    orders: [{ from: ['role=web'], to: [], ports: ['tcp/5432'] }],
    unread: ['dbx', 'frobnicate'],
  });
});

test('two ends are none that is certain', () => {
  expect(draftOf('let ops reach web on 22 for 2h until 18:00').orders).toMatchObject([{ for: '' }]);
});

test.each(['api may push to db', 'let api reach db; let web reach db on 5432'])(
  '"%s" leaves the ports of an order empty: they may not be all',
  (sentence) => {
    expect(draftOf(sentence).orders[0]).toMatchObject({ from: ['role=api'], to: ['role=db'], ports: [] });
  },
);
