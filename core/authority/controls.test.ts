import { expect, test } from 'vitest';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import type { PolicyRecord } from '../model/resources.ts';
import { DEFAULT_NETWORK } from '../model/resources.ts';
import { buildCompiler } from '../state/compiled.ts';
import { controlsOfChange } from './controls.ts';
import type { JoinGrant } from './label-sets.ts';
import { MAX_NEWCOMERS } from './newcomers.ts';

const NOW = Date.UTC(2026, 0, 5);
const CARD = { 'compliance.scope': 'cde' };
const base = policy('base', { action: 'DENY', peerSelector: {} });
const harmless = policy('harmless', { action: 'DENY', peerSelector: { matchLabels: { role: 'none' } } });

/** What the change that adds a policy without effect fails, while so many tokens are out. */
function failedBy(kinds: number, labels: Readonly<Record<string, string>>, of: object = {}): string[] {
  const reachability = buildCompiler();
  const joins = Array.from({ length: kinds }, (_, index): JoinGrant => {
    return { labels: { ...labels, n: String(index) }, network: DEFAULT_NETWORK };
  });
  const [before, after] = [stateWith(base, peer('web-1', of)), stateWith(base, harmless, peer('web-1', of))];
  const flips = controlsOfChange({ before, after, now: NOW }, { joins, settings: {}, states: { reachability } });
  return flips.filter(({ to }) => to === 'fail').map(({ control }) => control);
}

test('a change counts as one that fails a control while more kinds of devices may join than are judged', () => {
  expect(failedBy(MAX_NEWCOMERS, {}, { labels: CARD })).toEqual([]);
  expect(failedBy(MAX_NEWCOMERS + 1, {}, { labels: CARD })).toEqual(['PCI-DSS-tokens']);
});

test('devices that may join count where no peer is in the scope yet', () => {
  expect(failedBy(MAX_NEWCOMERS + 1, CARD)).toEqual(['PCI-DSS-tokens']);
});

test('however many may join, nothing is failed of a framework that says nothing of any of them', () => {
  expect(failedBy(MAX_NEWCOMERS + 1, {})).toEqual([]);
});

test('a control fails that something fails from its begin until the begin of what closes it again', () => {
  const reachability = buildCompiler();
  const at = (hours: number) => new Date(NOW + hours * 3_600_000).toISOString();
  const all = { ingress: [{}], egress: [{}] };
  const peers = [peer('card-1', { labels: CARD }), peer('web-1')];
  const before = stateWith(base, ...peers);
  const open = policy('open', { action: 'ALLOW', peerSelector: {}, ...all, startsAt: at(1) });
  const shut = policy('shut', { action: 'DENY', peerSelector: {}, ...all, startsAt: at(2) });
  const failed = (...more: PolicyRecord[]) =>
    controlsOfChange(
      { before, after: stateWith(base, harmless, ...more, ...peers), now: NOW },
      { joins: [], settings: {}, states: { reachability } },
    ).flatMap(({ to, control }) => (to === 'fail' ? [control] : []));
  expect(failed(shut)).toEqual([]);
  expect(failed(open)).not.toEqual([]);
  expect(failed(open, shut)).toEqual(failed(open));
});
