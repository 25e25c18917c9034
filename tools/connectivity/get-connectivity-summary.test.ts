import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const TCP_5432 = [{ protocol: 'TCP', from: 5432, to: 5432 }];
const onlyWeb = {
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ port: 5432 }] }],
};

async function shop() {
  const kit = await buildWorkspaceKit();
  await seedPeers(kit.services, kit.workspace, {
    'web-1': { role: 'web', env: 'prod' },
    'web-2': { role: 'web', env: 'test' },
    'web-3': { role: 'web', env: 'test' },
    'db-1': { role: 'db', env: 'prod' },
    'db-2': { role: 'db', env: 'prod' },
    laptop: {},
  });
  await kit.ask('create_policy', { name: 'db', spec: onlyWeb });
  return kit;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of an operation.
function words({ groups, cells }: any): string[] {
  const nameOf = (place: number) => `${groups[place].kind} ${groups[place].name}`.trim();
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  return cells.map(({ src, dst, open_pairs: open, pairs, allowed }: any) => {
    const ports = allowed === 'ALL' ? 'ALL' : allowed.map((each: { from: number }) => each.from).join(',');
    return `${nameOf(src)} > ${nameOf(dst)}: ${open} of ${pairs}, ${ports}`;
  });
}

test('peers are grouped by the key that most have, and each cell counts the pairs that may talk', async () => {
  await using kit = await shop();
  const answer = await kit.ask('get_connectivity_summary', { by: 'role' });
  expect(answer.groups).toEqual([
    { kind: 'label', name: 'web', peers: 3, online: 0 },
    { kind: 'label', name: 'db', peers: 2, online: 0 },
    { kind: 'unlabelled', name: '', peers: 1, online: 0 },
  ]);
  expect(words(answer)).toEqual([
    'label web > label web: 6 of 6, ALL',
    'label web > label db: 6 of 6, 5432',
    'label db > label web: 6 of 6, ALL',
    'label web > unlabelled: 3 of 3, ALL',
    'unlabelled > label web: 3 of 3, ALL',
    'label db > unlabelled: 2 of 2, ALL',
  ]);
  expect(answer.cells[1]).toMatchObject({ allowed: TCP_5432, alike: true, omitted_ports: 0 });
  const { by, keys } = await kit.ask('get_connectivity_summary');
  expect([by, keys]).toEqual([
    'env',
    [
      { key: 'env', values: 2, peers: 5 },
      { key: 'role', values: 2, peers: 5 },
    ],
  ]);
});

test('the peers of one value stand alone when it is expanded, and labels narrow the rest', async () => {
  await using kit = await shop();
  const answer = await kit.ask('get_connectivity_summary', { by: 'role', expand: 'web', label: 'env=prod' });
  expect(answer.groups.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`)).toEqual([
    'label db',
    'peer web-1',
  ]);
  expect(words(answer)).toEqual(['label db > peer web-1: 2 of 2, ALL', 'peer web-1 > label db: 2 of 2, 5432']);
});

test('a cell whose pairs differ says so, with all of their ports', async () => {
  await using kit = await shop();
  const answer = await kit.ask('get_connectivity_summary', { by: 'env' });
  const cell = answer.cells.find(
    ({ src, dst }: { src: number; dst: number }) =>
      answer.groups[src].name === 'prod' && answer.groups[dst].name === 'prod',
  );
  // web-1 to each database on one port, each database to web-1 on all; no database to the other.
  expect(cell).toMatchObject({ pairs: 6, open_pairs: 4, allowed: 'ALL', alike: false });
});

test('addresses outside that policies name are a group of their own', async () => {
  await using kit = await shop();
  const from = [{ ipBlock: { cidr: '203.0.113.0/24' } }];
  const peerSelector = { matchLabels: { role: 'web' } };
  await kit.ask('create_policy', {
    name: 'edge',
    spec: { action: 'ALLOW', peerSelector, ingress: [{ from, ports: [{ port: 443 }] }] },
  });
  const answer = await kit.ask('get_connectivity_summary', { by: 'role' });
  expect(answer.groups.at(-1)).toEqual({ kind: 'outside', name: '', peers: 2, online: 0 });
  expect(words(answer)).toContain('outside > label web: 3 of 6, 443');
});

test('without labels each peer stands alone, and of many groups the smallest are one', async () => {
  await using kit = await buildWorkspaceKit();
  await seedPeers(kit.services, kit.workspace, { a: {}, b: {} });
  const alone = await kit.ask('get_connectivity_summary');
  expect([alone.by, words(alone)]).toEqual([null, ['peer a > peer b: 1 of 1, ALL', 'peer b > peer a: 1 of 1, ALL']]);
  const many = Object.fromEntries(Array.from({ length: 210 }, (_, n) => [`n-${n}`, { host: `h-${n}` }]));
  await seedPeers(kit.services, kit.workspace, many);
  const {
    groups,
    omitted_groups: omitted,
    cells,
    omitted_cells: left,
  } = await kit.ask('get_connectivity_summary', {
    by: 'host',
  });
  expect([groups.length, groups.at(-1), omitted]).toEqual([201, { kind: 'rest', name: '', peers: 11, online: 0 }, 11]);
  // The pair of peers without the key and the rest talk within themselves too; single peers do not.
  expect([cells.length, left]).toEqual([2_000, 201 * 200 + 2 - 2_000]);
});

test('the summary of a past moment is of the network as it was then', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.join('web-1', { role: 'web' });
  await kit.join('db-1', { role: 'db' });
  kit.clock.time = NOON + 60_000;
  await kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
  const then = await kit.ask('get_connectivity_summary', { by: 'role', at: formatInstant(NOON) });
  expect([then.at, then.cells.length]).toEqual([formatInstant(NOON), 2]);
  expect((await kit.ask('get_connectivity_summary', { by: 'role' })).cells).toEqual([]);
});

test('what is no label is refused, others see nothing of it, and it needs network:read', async () => {
  await using kit = await shop();
  expect(await refusalOf(kit.ask('get_connectivity_summary', { label: 'prod' }))).toBe('invalid_input /label');
  expect((await kit.foreign('get_connectivity_summary')).groups).toEqual([]);
  expect(await refusalOf(kit.holding()('get_connectivity_summary'))).toBe('forbidden network:read');
});
