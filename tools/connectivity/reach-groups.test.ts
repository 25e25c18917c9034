import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

const web = { matchLabels: { role: 'web' } };
const TO_DB = {
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ingress: [{ from: [{ peerSelector: web }, { ipBlock: { cidr: '203.0.113.0/24' } }], ports: [{ port: 5432 }] }],
};

async function scene() {
  const kit = await buildHistoryKit();
  await seedPeers(kit.services, kit.workspace, {
    'web-1': { role: 'web' },
    'web-2': { role: 'web' },
    'db-1': { role: 'db' },
    laptop: {},
  });
  kit.clock.time += 1_000;
  await kit.ask('create_policy', { name: 'web-to-db', spec: TO_DB });
  return kit;
}

const POSTGRES = [{ protocol: 'TCP', from: 5432, to: 5432 }];

test('a question without src answers who can reach a peer, by labels, ports and ranges outside', async () => {
  await using kit = await scene();
  expect(await kit.ask('check_connectivity', { dst: 'db-1' })).toMatchObject({
    verdict: 'partial',
    asked_pairs: 3,
    open_pairs: 2,
    group_count: 2,
    groups: [
      { src: ['role=web (2 peers)'], dst: ['db-1'], pairs: 2, allowed: POSTGRES },
      { src: ['203.0.113.0/24'], dst: ['db-1'], pairs: 1, allowed: POSTGRES },
    ],
  });
});

test('a question without dst answers what a peer can reach', async () => {
  await using kit = await scene();
  const { groups } = await kit.ask('check_connectivity', { src: 'laptop' });
  expect(groups[0]).toMatchObject({ src: ['laptop'], dst: ['role=web (2 peers)'], allowed: 'ALL' });
  expect(JSON.stringify(groups)).not.toContain('db-1');
});

test('labels at both ends ask about groups, with one verdict for all their pairs', async () => {
  await using kit = await scene();
  const pair = { src: 'role=web', dst: 'role=db' };
  expect(await kit.ask('check_connectivity', { ...pair, port: 5432 })).toMatchObject({
    verdict: 'reachable',
    asked_pairs: 2,
    open_pairs: 2,
  });
  expect(await kit.ask('check_connectivity', { ...pair, port: 22 })).toMatchObject({
    verdict: 'unreachable',
    groups: [],
  });
  await expect(kit.ask('check_connectivity', { src: 'role=wbe' })).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('No peer has "role=wbe". Did you mean "role=web"'),
  });
});

test('the same is answered of an instant in the past', async () => {
  await using kit = await scene();
  const at = formatInstant(kit.clock.time - 1);
  expect(await kit.ask('check_connectivity_at', { dst: 'db-1', at })).toMatchObject({
    verdict: 'reachable',
    groups: [{ src: ['every other peer (3)'], dst: ['db-1'], pairs: 3, allowed: 'ALL' }],
  });
});

test('more groups than one page come with counts and a cursor that goes on', async () => {
  await using kit = await scene();
  const peers = Array.from({ length: 60 }, (_, index) => [`app-${index}`, { app: `a${index}` }] as const);
  await seedPeers(kit.services, kit.workspace, Object.fromEntries(peers));
  for (const [index] of peers.entries()) {
    const ingress = [{ from: [{ peerSelector: web }], ports: [{ port: 1_000 + index }] }];
    const spec = { action: 'ALLOW', peerSelector: { matchLabels: { app: `a${index}` } }, ingress };
    await kit.ask('create_policy', { name: `app-${index}`, spec });
  }
  const first = await kit.ask('check_connectivity', { src: 'web-1' });
  expect([first.groups.length, first.next_cursor]).toEqual([50, '50']);
  const rest = await kit.ask('check_connectivity', { src: 'web-1', cursor: first.next_cursor });
  expect([first.groups.length + rest.groups.length, rest.next_cursor]).toEqual([first.group_count, undefined]);
});
