import { expect, test } from 'vitest';
import { peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import type { NetworkState } from '../../state/state.ts';
import { endingTexts } from './ending.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const PEERS = [
  peer('db-1', { labels: { is: 'db-1' } }),
  ...[1, 2, 3, 4, 5].map((hour) => peer(`web-${hour}`, { labels: { is: `web-${hour}` } })),
];
const BASE = policy('base', { action: 'ALLOW', ingress: [] });
const states = { reachability: (state: NetworkState, at: number) => compile(modelOf(state, at)) };
const atHour = (hour: number) => new Date(NOW + hour * 3_600_000).toISOString().replace('.000', '');

/** web-1 to db-1 is open for an hour, web-2 for two, and so on; each is changed to end at another hour. */
function textsOf(endOf: (hour: number) => number): string[] {
  const specOf = (hour: number, end: number): PolicySpec => ({
    action: 'ALLOW',
    peerSelector: { matchLabels: { is: 'db-1' } },
    ingress: [{ from: [{ peerSelector: { matchLabels: { is: `web-${hour}` } } }] }],
    expiresAt: atHour(end),
  });
  const hours = [1, 2, 3, 4, 5];
  const before = stateWith(...PEERS, BASE, ...hours.map((hour) => policy(`p-${hour}`, specOf(hour, hour))));
  const after = stateWith(...PEERS, BASE, ...hours.map((hour) => policy(`p-${hour}`, specOf(hour, endOf(hour)))));
  const changes = hours.map(
    (hour): NetworkChange => ({
      action: 'update',
      resource: 'MeshPolicy',
      name: `p-${hour}`,
      labels: {},
      annotations: {},
      spec: specOf(hour, endOf(hour)),
    }),
  );
  return endingTexts(changes, { before, after, now: NOW }, states);
}

test('policies whose old end is one too many to compute what stays open are counted', () => {
  const texts = textsOf(() => 9);
  expect(texts.slice(0, 4)).toEqual([
    ...[1, 2, 3].map(
      (hour) => `stays open until ${atHour(9)}, and not just ${atHour(hour)}: web-${hour} to db-1 on everything`,
    ),
    '2 more policies end later than before, and what they keep open or closed is not computed',
  ]);
});

test('policies whose new end is one too many to compute what opens again are counted', () => {
  expect(textsOf((hour) => hour + 9).at(-1)).toBe(
    '2 more policies end after these, and what opens again then is not computed',
  );
});

test('three ends leave nothing to count', () => {
  expect(textsOf((hour) => (hour <= 3 ? 9 : hour)).join()).not.toContain('more polic');
});
