import { expect, test } from 'vitest';
import { peer, policy, presence } from '../../test/kits/records/records.ts';
import { verifies } from '../../test/verifies.ts';
import type { Change, Commit } from '../base/ports.ts';
import { CAP_MS, CUT_BYTES, Debouncer, TRAILING_MS } from './debounce.ts';

const WORKSPACE = 'w_test';
const NOW = 1_000_000;
const DENY = { action: 'DENY', peerSelector: {} } as const;
const changed: Change = { type: 'created', record: policy('base', DENY) };
const registered: Change = { type: 'created', record: peer('web-1') };
const came: Change = { type: 'created', record: presence('web-1', true) };
const left: Change = { type: 'updated', record: presence('web-1', false), before: presence('web-1', true) };
const back: Change = { type: 'updated', record: presence('web-1', true), before: presence('web-1', false) };
const other: Change = { type: 'created', record: presence('web-2', true) };

function commit(revision: number, at: number, change: Change, approved = false): Commit {
  const approval = { workflowId: 'wf_1', reviewedBy: 'user:ada' };
  const base = { workspace: WORKSPACE, actor: `user:${revision}`, reason: '', requestId: 'r' };
  return { ...base, revision, at, changes: [change], ...(approved && { approval }) };
}

test('a burst becomes one capture of its last commit, a second after it', () => {
  verifies('snapshot-debounced');
  const debouncer = new Debouncer();
  expect(debouncer.handle(commit(1, NOW, changed), NOW)).toEqual([]);
  expect(debouncer.handle(commit(2, NOW + 900, changed), NOW + 900)).toEqual([]);
  expect(debouncer.due(NOW + 900 + TRAILING_MS - 1)).toEqual([]);
  expect(debouncer.deadline).toBe(NOW + 900 + TRAILING_MS);
  expect(debouncer.due(NOW + 900 + TRAILING_MS)).toEqual([
    { workspace: WORKSPACE, trigger: 'policy_change', triggeredBy: 'user:2', revision: 2, capturedAt: NOW + 900 },
  ]);
  expect(debouncer.deadline).toBeUndefined();
});

test('changes that never pause are captured after five seconds', () => {
  const debouncer = new Debouncer();
  for (let at = NOW; at < NOW + CAP_MS; at += 500) debouncer.handle(commit(1 + at - NOW, at, came), at);
  expect(debouncer.deadline).toBe(NOW + CAP_MS);
});

test('another cause completes what waits', () => {
  const debouncer = new Debouncer();
  debouncer.handle(commit(1, NOW, came), NOW);
  expect(debouncer.handle(commit(2, NOW, changed), NOW)).toMatchObject([{ trigger: 'peer_online', revision: 1 }]);
  expect(debouncer.handle(commit(3, NOW, changed, true), NOW)).toMatchObject([
    { trigger: 'policy_change', revision: 2 },
  ]);
  expect(debouncer.drain()).toMatchObject([{ trigger: 'workflow_executed', revision: 3 }]);
});

test.each([
  ['a device that comes', [came], ['peer_online']],
  ['a device that goes', [left], ['peer_offline']],
  ['one that comes while another goes', [other, left], ['peer_offline']],
  ['a device that blinks', [left, back], []],
  ['one that comes and goes at once', [came, left], []],
  ['one that comes back after others changed', [left, other, back], ['peer_online']],
  ['a device that registers', [registered], []],
  ['one that is deleted and was never online', [{ type: 'deleted', record: peer('web-1') } as const], []],
])('the snapshots of %s are those of what differs before and after', (_what, changes, expected) => {
  const debouncer = new Debouncer();
  for (const [index, change] of changes.entries()) {
    expect(debouncer.handle(commit(index + 1, NOW, change), NOW)).toEqual([]);
  }
  expect(debouncer.drain().map(({ trigger }) => trigger)).toEqual(expected);
});

test('a burst is cut before more than 8 KB wait', () => {
  const debouncer = new Debouncer();
  const large: Change = {
    type: 'created',
    record: policy('large', DENY, { labels: { note: 'x'.repeat(CUT_BYTES / 2) } }),
  };
  expect(debouncer.handle(commit(1, NOW, large), NOW)).toEqual([]);
  expect(debouncer.handle(commit(2, NOW, large), NOW)).toMatchObject([{ revision: 1 }]);
});

test('a commit that changes nothing a snapshot shows is passed over', () => {
  const debouncer = new Debouncer();
  const waiting: Change = { type: 'created', record: peer('web-1', { phase: 'pending' }) };
  debouncer.handle(commit(1, NOW, waiting), NOW);
  expect(debouncer.deadline).toBeUndefined();
});
