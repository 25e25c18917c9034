import { describe, expect, it } from 'vitest';
import { planChanges } from '../../core/changes/changes.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { network, peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';
import { effectOfChanges } from './loosened.ts';

const NOW = Date.UTC(2030, 0, 1);
const PEERS = [
  peer('alice-laptop', { labels: { role: 'laptop' } }),
  peer('bob-laptop', { labels: { role: 'laptop' } }),
  peer('mail', { labels: { role: 'mail' } }),
  peer('historian-1', { labels: { role: 'historian', env: 'prod' } }),
  peer('plc-1', { labels: { role: 'plc', env: 'staging' } }),
  peer('db-1', { labels: { role: 'db', env: 'prod' } }),
  peer('db-2', { labels: { role: 'db', env: 'staging' } }),
];
const OPEN = stateWith(...PEERS);
const CLOSED = stateWith(network('default', { defaultAction: 'DENY' }), ...PEERS);

function plan(intent: string, state: NetworkState) {
  return planByGrammar({ intent, state, now: NOW });
}

function changesOf(intent: string, state: NetworkState) {
  const answer = plan(intent, state);
  if (answer.outcome !== 'changes') throw new Error(`not planned: ${JSON.stringify(answer)}`);
  return answer.changes;
}

function after(state: NetworkState, ...intents: readonly string[]): NetworkState {
  return intents.reduce((on, intent) => planChanges(on, changesOf(intent, on), NOW).after, state);
}

function effect(intent: string, state: NetworkState) {
  const { groups, closedPairs } = effectOfChanges(changesOf(intent, state), state, NOW);
  const opens = groups.flatMap(({ src, dst, opened }) =>
    src.flatMap((from) =>
      dst.flatMap((to) => opened.map(({ protocol, from: port }) => `${from} > ${to} ${protocol} ${port ?? ''}`)),
    ),
  );
  return { opens, closedPairs };
}

describe('what a policy that a sentence made forbids', () => {
  it.each([
    ['block the laptops from mail', 'let alice-laptop reach mail on 993', 'alice-laptop > mail TCP 993'],
    ['isolate plc-1', 'let historian-1 reach plc-1 on 502', 'historian-1 > plc-1 TCP 502'],
    ['separate prod from staging', 'let db-1 reach db-2 on 5432', 'db-1 > db-2 TCP 5432'],
    ['nobody may reach mail', 'let alice-laptop reach mail on 25', 'alice-laptop > mail TCP 25'],
    ['let everyone reach mail except the laptops', 'let alice-laptop reach mail on 25', 'alice-laptop > mail TCP 25'],
  ])('is opened by a choice that opens nothing else: %s, then %s', (block, loosen, opens) => {
    const state = after(OPEN, block);
    const answer = plan(loosen, state);
    const [choice = '', second] = answer.outcome === 'refused' ? answer.choices : [];
    expect(second).toBeUndefined();
    expect(effect(choice, state)).toEqual({ opens: [opens], closedPairs: 0 });
  });

  it.each([
    [
      'for a time, which would not come back',
      'let alice-laptop reach mail on 993 for 2 hours',
      after(OPEN, 'block the laptops from mail'),
    ],
    ['where it would open nothing', 'let alice-laptop reach mail on 993', after(CLOSED, 'block the laptops from mail')],
  ])('gets no choice %s', (_, intent, state) => {
    expect(plan(intent, state)).toMatchObject({ outcome: 'refused', choices: [] });
  });

  it('is named where no sentence makes the policy again', () => {
    const other = policy('by-hand', {
      action: 'DENY',
      peerSelector: { matchLabels: { role: 'mail' }, matchExpressions: [{ key: 'env', operator: 'DoesNotExist' }] },
      ingress: [{}],
    });
    const answer = plan('let alice-laptop reach mail on 993', stateWith(...PEERS, other));
    expect(answer).toMatchObject({ choices: [], reason: expect.stringContaining('"by-hand"') });
  });
});

describe('the end of what was forbidden', () => {
  it.each([
    ['isolate plc-1', 'no longer isolate plc-1'],
    ['isolate plc-1', 'lift the isolation of plc-1'],
    ['quarantine plc-1', 'unquarantine plc-1'],
    ['quarantine plc-1', 'take plc-1 out of quarantine'],
    ['quarantine plc-1', 'lift the quarantine of plc-1'],
    ['quarantine plc-1', 'release plc-1 from quarantine'],
    ['quarantine plc-1', 'undo the quarantine of plc-1'],
    ['block alice-laptop from mail', 'unblock alice-laptop from mail'],
    ['separate prod from staging', 'prod and staging may talk again'],
    ['separate prod from staging', 'remove the separation of prod and staging'],
    ['nobody may reach mail', 'everyone may reach mail again'],
  ])('names the policies that did it, and opens all that they closed: %s, then %s', (block, lift) => {
    const state = after(OPEN, block);
    const answer = plan(lift, state);
    const [choice = ''] = answer.outcome === 'refused' ? answer.choices : [];
    expect(choice).toMatch(/^delete the policy /);
    expect(after(state, choice).policies.size).toBe(0);
  });

  it.each(['no longer isolate plc-1 on 22', 'no longer isolate historian-1', 'unblock plc-1 until friday'])(
    'is not offered for what no policy forbids just so: %s',
    (intent) => {
      const answer = plan(intent, after(OPEN, 'isolate plc-1'));
      expect(answer.outcome === 'refused' && answer.choices).toEqual([]);
    },
  );
});

describe('a restriction', () => {
  it.each(['only historian-1 and plc-1 may reach db', 'only historian-1 and plc-1 may reach db on 5432'])(
    'closes the others where a DENY overlaps, and opens nothing: %s',
    (intent) => {
      const { opens, closedPairs } = effect(intent, after(OPEN, 'separate prod from staging'));
      expect(opens).toEqual([]);
      expect(closedPairs).toBeGreaterThan(0);
    },
  );

  it('is not refused as closed where a wider grant opens it', () => {
    const state = after(CLOSED, 'let everyone reach mail');
    expect(effect('only alice-laptop may reach mail', state).opens).toEqual([]);
    expect(plan('only alice-laptop may reach mail', CLOSED)).toMatchObject({ outcome: 'refused' });
  });
});
