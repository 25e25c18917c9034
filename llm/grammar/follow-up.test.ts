import { describe, expect, it } from 'vitest';
import { planChanges } from '../../core/changes/changes.ts';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const STATE = stateWith(
  peer('web-1', { labels: { role: 'web' } }),
  peer('api-1', { labels: { role: 'api' } }),
  peer('db-1', { labels: { role: 'db' } }),
  policy('base', { action: 'DENY', peerSelector: {} }),
);

const plan = (intent: string, history: readonly string[], state = STATE) =>
  planByGrammar({ intent, history, state, now: NOW });

function specsOf(intent: string, history: readonly string[], state = STATE) {
  const answer = plan(intent, history, state);
  if (answer.outcome !== 'changes') throw new Error(JSON.stringify(answer));
  return answer.changes.flatMap((change) =>
    change.resource === 'MeshPolicy' && change.action !== 'delete' ? [change] : [],
  );
}

describe('a follow-up', () => {
  const END = '2026-01-05T13:00:00.000Z';
  const FIRST = 'let web reach db on 5432';

  it.each([
    [
      'and also on 443',
      [
        { protocol: 'TCP', port: 5432 },
        { protocol: 'TCP', port: 443 },
      ],
    ],
    ['make it port 443', [{ protocol: 'TCP', port: 443 }]],
    ['on 443 instead', [{ protocol: 'TCP', port: 443 }]],
  ])('"%s" changes the ports of what was said before', (says, ports) => {
    const [change] = specsOf(says, [FIRST]);
    expect(change?.spec.ingress).toEqual([{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports }]);
  });

  it.each(['make it only for 1 hour', 'for the next hour', 'make it 1 hour', 'until 13:00'])(
    '"%s" gives it an end',
    (says) => {
      expect(new Set(specsOf(says, [FIRST]).map(({ spec }) => spec.expiresAt))).toEqual(new Set([END]));
    },
  );

  it('changes the policy itself where it was written since', () => {
    const first = plan(FIRST, []);
    if (first.outcome !== 'changes') throw new Error(JSON.stringify(first));
    const { after } = planChanges(STATE, first.changes, NOW);
    const changed = specsOf('make it only for 1 hour', [FIRST], after);
    expect(changed.map(({ action, name, spec }) => [action, name, spec.expiresAt])).toEqual([
      ['update', 'allow-web-to-db-5432', END],
      ['update', 'allow-web-to-db-5432-out', END],
    ]);
  });

  it('takes others in the place of the one who reaches', () => {
    expect(plan('the same for the api', [FIRST])).toMatchObject({
      outcome: 'changes',
      summary: 'Let role=api reach role=db on TCP 5432.',
    });
  });

  it('builds on follow-ups before it', () => {
    expect(plan('also on 22', [FIRST, 'for 2 hours'])).toMatchObject({
      summary: 'Let role=web reach role=db on TCP 5432 and TCP 22 for 2h, until Monday 2026-01-05 14:00 UTC.',
    });
  });

  it.each([
    ['also on 443', []],
    ['make it 1 hour', []],
    ['isolate it', [FIRST]],
    ['on 443', [FIRST]],
    ['the same for it', [FIRST]],
    ['also on 443', ['make everything nice']],
    ['let them reach db', []],
    ['make it 1 hour', ['let web reach db on 5432; let web reach api on 443']],
    ['make it port 80', [FIRST, 'also on 22']],
    ['only for 1 hour', [FIRST, 'the same for ci']],
  ])('"%s" after %j is asked about, never guessed', (says, history) => {
    const answer = plan(says, history);
    expect(answer).toMatchObject({ outcome: 'refused' });
    expect(answer.outcome === 'refused' && answer.questions).not.toEqual([]);
  });

  it('"undo that" goes back to what the newest change changed', () => {
    expect(plan('undo that', [FIRST])).toEqual({ outcome: 'revert', target: { to: 'before-last' } });
  });
});
