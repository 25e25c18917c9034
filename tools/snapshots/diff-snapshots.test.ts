import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const ALLOW = {
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
};

test('a difference names resources with paths, pairs with their cause, and commits with who wrote them', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.join('web-1', { role: 'web' });
  await kit.join('db-1', { role: 'db' });
  await kit.ask('create_policy', {
    name: 'old',
    spec: { action: 'DENY', peerSelector: { matchLabels: { role: 'x' } } },
  });
  const before = await kit.ask('take_snapshot');
  kit.clock.time += 1_000;
  await kit.ask('create_policy', { name: 'web-to-db', spec: ALLOW });
  await kit.ask('delete_policy', { id: 'old' });
  await kit.ask('update_network', { id: 'default', spec: { cidr: '10.96.0.0/17', mtu: 1300 } });
  const after = await kit.ask('take_snapshot');

  const diff = await kit.ask('diff_snapshots', { from: before.id, to: after.id });
  expect(diff.added).toEqual([{ kind: 'MeshPolicy', name: 'web-to-db' }]);
  expect(diff.removed).toEqual([{ kind: 'MeshPolicy', name: 'old' }]);
  expect(diff.changed).toEqual([
    { kind: 'MeshNetwork', name: 'default', changes: [{ path: '/spec/mtu', old: 1280, new: 1300 }] },
  ]);
  const ofPeers = ({ src, dst }: { src: string; dst: string }) => src !== 'outside' && dst !== 'outside';
  expect(diff.connectivity).toContainEqual({
    type: 'removed',
    src: 'outside',
    dst: 'db-1',
    old: 'ALL',
    new: [],
    causes: ['policies/web-to-db'],
    together: false,
  });
  expect(diff.connectivity.filter(ofPeers)).toEqual([
    {
      type: 'changed',
      src: 'web-1',
      dst: 'db-1',
      old: 'ALL',
      new: [{ protocol: 'TCP', from: 5432, to: 5432 }],
      causes: ['policies/web-to-db'],
      together: false,
    },
  ]);
  expect(diff.commits).toMatchObject([
    { actor: 'user:admin', reviewed_by: null, resources: ['created MeshPolicy/web-to-db'] },
    { resources: ['deleted MeshPolicy/old'] },
    { resources: ['updated MeshNetwork/default'] },
  ]);
  expect(diff.presence).toEqual([]);
  const [created] = diff.commits;
  expect(diff.groups[0]).toMatchObject({
    src: ['web-1'],
    dst: ['db-1'],
    pairs: 1,
    changes: [{ revisions: [created.revision], time: false }],
    together: false,
  });

  const back = await kit.ask('diff_snapshots', { from: after.id, to: before.id });
  expect(back.added).toEqual(diff.removed);
  expect(back.removed).toEqual(diff.added);
  const same = await kit.ask('diff_snapshots', { from: after.id, to: after.id });
  expect(same).toMatchObject({ added: [], removed: [], changed: [], connectivity: [], commits: [] });
});

test('a renamed peer is one peer under its new name: what opened before and after is laid to what opened it', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  const web = await kit.join('web-1', { role: 'none' });
  await kit.join('db-1', { role: 'db' });
  await kit.join('swap-1', { role: 'none' });
  await kit.ask('create_policy', { name: 'web-to-db', spec: ALLOW });
  const before = await kit.ask('take_snapshot');
  kit.clock.time += 1_000;
  await kit.ask('update_peer', { id: web.id, labels: { role: 'web' } });
  kit.clock.time += 1_000;
  const { createdAt } = await kit.ask('get_peer', { id: web.id });
  expect(await kit.ask('update_peer', { id: web.id, name: 'front-1' })).toMatchObject({ createdAt });
  const after = await kit.ask('take_snapshot');

  const diff = await kit.ask('diff_snapshots', { from: before.id, to: after.id });
  expect(diff).toMatchObject({ added: [], removed: [], presence: [] });
  expect(diff.changed).toMatchObject([
    { kind: 'MeshPeer', name: 'front-1', changes: [{ path: '/metadata/name', old: 'web-1', new: 'front-1' }, {}, {}] },
  ]);
  expect(diff.connectivity).toEqual([
    {
      type: 'added',
      src: 'front-1',
      dst: 'db-1',
      old: [],
      new: [{ protocol: 'TCP', from: 5432, to: 5432 }],
      causes: ['peers/front-1'],
      together: false,
    },
  ]);
  expect(diff.groups[0]?.changes).toEqual([{ revisions: [diff.commits[0].revision], time: false }]);
  const back = await kit.ask('diff_snapshots', { from: after.id, to: before.id });
  expect(back.connectivity).toMatchObject([{ type: 'removed', src: 'web-1', dst: 'db-1', causes: ['peers/web-1'] }]);
});

test('an unknown snapshot and a missing one are refused', async () => {
  await using kit = await buildHistoryKit();
  const { id } = await kit.ask('take_snapshot');
  await expect(kit.ask('diff_snapshots', { from: id, to: 'snap_none' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(kit.ask('diff_snapshots', { from: id })).rejects.toMatchObject({ code: 'invalid_input' });
});

const isolated = (role: string) => ({ action: 'DENY', peerSelector: { matchLabels: { role } } });
const opened = (to: string, from: unknown[]) => ({
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: to } },
  ingress: [{ from, ports: [{ port: 443 }] }],
});
const role = (name: string) => ({ peerSelector: { matchLabels: { role: name } } });

test('10,000 connections that differ alike are one group by its label, and come one by one in pages', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  const peers = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`web-${index}`, { role: 'web' }]));
  await seedPeers(kit.services, kit.workspace, { ...peers, db: { role: 'db' } });
  const from = await kit.ask('take_snapshot');
  kit.clock.time += 1_000;
  await kit.ask('create_policy', { name: 'apart', spec: isolated('web') });
  const to = await kit.ask('take_snapshot');

  const rows = new Set<string>();
  let pages = 0;
  for (let cursor: string | undefined = ''; cursor !== undefined; pages += 1) {
    const page: Record<string, never> = await kit.ask('diff_snapshots', {
      from: from.id,
      to: to.id,
      ...(cursor === '' ? {} : { cursor }),
    });
    const { connectivity, groups, summary, next_cursor } = page as unknown as Answer;
    if (pages === 0) {
      expect(groups[0]).toMatchObject({ src: ['role=web (101 peers)'], dst: ['every peer (102)'], pairs: 10_201 });
    }
    expect(summary).toMatchObject({ groups: 4, unattributed_pairs: 0 });
    expect(connectivity.length).toBeLessThanOrEqual(1_000);
    for (const { src, dst } of connectivity) rows.add(`${src} ${dst}`);
    cursor = next_cursor;
  }
  expect([rows.size, pages]).toEqual([10_100 + 4 * 101, 11]);
  const asked = { from: from.id, to: to.id, cursor: 'x' };
  await expect(kit.ask('diff_snapshots', asked)).rejects.toMatchObject({
    code: 'invalid_input',
    details: { errors: [{ pointer: '/cursor' }] },
  });
});

interface Answer {
  readonly connectivity: { readonly src: string; readonly dst: string }[];
  readonly groups: Record<string, unknown>[];
  readonly summary: Record<string, unknown>;
  readonly next_cursor?: string;
}

test('of addresses outside, each range is told with the change that opened it, and that they are exposed to it', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.join('web-1', { role: 'web' });
  await kit.join('db-1', { role: 'db' });
  await kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
  const from = await kit.ask('take_snapshot');
  kit.clock.time += 1_000;
  const block = (cidr: string) => [{ ipBlock: { cidr } }];
  await kit.ask('create_policy', { name: 'office', spec: opened('web', block('203.0.113.0/24')) });
  await kit.ask('create_policy', { name: 'partner', spec: opened('web', block('198.51.100.0/24')) });
  const { groups, connectivity, exposure, commits } = await kit.ask('diff_snapshots', {
    from: from.id,
    to: (await kit.ask('take_snapshot')).id,
  });
  const [office, partner] = commits.map(({ revision }: { revision: number }) => [
    { revisions: [revision], time: false },
  ]);
  expect(groups).toMatchObject([
    { src: ['198.51.100.0/24'], dst: ['web-1'], changes: partner },
    { src: ['203.0.113.0/24'], dst: ['web-1'], changes: office },
  ]);
  expect(connectivity).toMatchObject([{ causes: ['policies/partner'] }, { causes: ['policies/office'] }]);
  const port = [{ protocol: 'TCP', from: 443, to: 443 }];
  expect(exposure).toEqual([
    { src: ['198.51.100.0/24'], dst: ['web-1'], opened: port, changes: partner },
    { src: ['203.0.113.0/24'], dst: ['web-1'], opened: port, changes: office },
  ]);
});

test('a peer that every other peer reaches now is exposed to everyone, and one that some reach is not', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  for (const name of ['web', 'db', 'job', 'log']) await kit.join(`${name}-1`, { role: name });
  await kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
  for (const name of ['web', 'job', 'db', 'log']) {
    const spec = { action: 'ALLOW', peerSelector: { matchLabels: { role: name } }, egress: [{}] };
    await kit.ask('create_policy', { name: `${name}-out`, spec });
  }
  const from = await kit.ask('take_snapshot');
  kit.clock.time += 1_000;
  await kit.ask('create_policy', { name: 'db-in', spec: opened('db', [role('web'), role('job')]) });
  await kit.ask('create_policy', { name: 'log-in', spec: opened('log', [{ peerSelector: {} }]) });
  const { exposure, commits } = await kit.ask('diff_snapshots', {
    from: from.id,
    to: (await kit.ask('take_snapshot')).id,
  });
  const changes = [{ revisions: [commits[1].revision], time: false }];
  const port = [{ protocol: 'TCP', from: 443, to: 443 }];
  expect(exposure).toEqual([{ src: ['everyone'], dst: ['log-1'], opened: port, changes }]);
});

test('an assertion that ceased to hold is told with why, and each commit with its workflow, reviewer and snapshot', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.join('web-1', { role: 'web' });
  await kit.join('db-1', { role: 'db' });
  await kit.ask('create_policy', { name: 'db-in', spec: { ...opened('db', [role('web')]), expiresAt: later(60) } });
  const assertion = { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 443, expect: 'reachable' };
  await kit.ask('create_assertion', { name: 'shop', ...assertion });
  await kit.ask('create_policy', { name: 'db', spec: isolated('db') });
  await kit.pass(10_000);
  const from = later(20);
  kit.clock.time = NOON + 30_000;
  await kit.ask('update_network', { id: 'default', spec: { cidr: '10.96.0.0/17', mtu: 1300 } });
  await kit.pass(100_000);
  const { assertions, commits, groups } = await kit.ask('diff_snapshots', { from, to: later(100) });
  expect(assertions).toMatchObject([{ assertion: 'shop', old: 'holds', new: 'fails' }]);
  expect(groups[0]).toMatchObject({ changes: [{ revisions: [], time: true }] });
  const [snapshot] = (await kit.ask('list_snapshots', { trigger_type: 'policy_change', limit: 1 })).items;
  expect(commits).toMatchObject([{ workflow_id: null, reviewed_by: null, snapshot_id: snapshot.id }]);
});

function later(seconds: number): string {
  return formatInstant(NOON + seconds * 1_000);
}

test('a control that the later state fails is told with what fails it, and the way back too', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.join('card-1', { 'compliance.scope': 'cde' });
  await kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
  const before = await kit.ask('take_snapshot');
  kit.clock.time += 1_000;
  const anyone = { action: 'ALLOW', peerSelector: { matchLabels: { 'compliance.scope': 'cde' } } };
  await kit.ask('create_policy', { name: 'open', spec: { ...anyone, ingress: [{ from: ['*'] }] } });
  const after = await kit.ask('take_snapshot');

  const control = { framework: 'pci-dss', control: 'PCI-DSS-1.3', title: expect.any(String) };
  const diff = await kit.ask('diff_snapshots', { from: before.id, to: after.id });
  expect(diff.controls).toContainEqual({
    ...control,
    from: 'pass',
    to: 'fail',
    evidence: expect.stringContaining('of open ('),
  });
  const back = await kit.ask('diff_snapshots', { from: after.id, to: before.id });
  expect(back.controls).toContainEqual({ ...control, from: 'fail', to: 'pass', evidence: expect.any(String) });
  const same = await kit.ask('diff_snapshots', { from: after.id, to: after.id });
  expect(same.controls).toEqual([]);
});
