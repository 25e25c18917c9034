import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const report = { transport: 'ice-ready', path: 'direct', reason: 'connected', since: '2026-01-05T12:00:00Z' };

test('pairs are counted once by how they reach each other, the worse of what both ends say', async () => {
  await using kit = await buildWorkspaceKit();
  const [one, two, db] = [await kit.join('web-1'), await kit.join('web-2'), await kit.join('db-1')];
  for (const { id } of [one, two]) await kit.ask('update_peer', { id, labels: { role: 'web' } });
  await kit.ask('update_peer', { id: db.id, labels: { role: 'db' } });
  const relayed = { ...report, path: 'relayed', transport: 'lrp-ready' };
  const paths = [
    { ...report, peer: db.id },
    { ...report, peer: two.id },
    { ...report, peer: 'p_gone' },
  ];
  await kit.call('send_heartbeat', { paths }, one.self);
  await kit.call('send_heartbeat', { paths: [{ ...relayed, peer: one.id }] }, db.self);
  const failed = { ...report, path: null, transport: 'failed', peer: db.id };
  const probing = { ...report, path: null, transport: 'probing', peer: one.id };
  await kit.call('send_heartbeat', { paths: [failed, probing] }, two.self);

  const answer = await kit.ask('get_path_summary', { by: 'role' });
  expect(answer).toEqual({
    by: 'role',
    groups: [
      { kind: 'label', name: 'web' },
      { kind: 'label', name: 'db' },
    ],
    paths: [
      { a: 0, b: 1, direct: 0, relayed: 1, failed: 1 },
      { a: 0, b: 0, direct: 1, relayed: 0, failed: 0 },
    ],
    omitted_paths: 0,
  });

  // What was counted once is counted anew as soon as a device says something else, and whoever leaves is not counted.
  await kit.call('send_heartbeat', { paths: [{ ...report, peer: db.id }] }, two.self);
  const again = await kit.ask('get_path_summary', { by: 'role' });
  expect(again.paths).toContainEqual({ a: 0, b: 1, direct: 1, relayed: 1, failed: 0 });
  await kit.ask('delete_peer', { id: two.id });
  const { paths: left } = await kit.ask('get_path_summary', { by: 'role' });
  expect(left).toEqual([{ a: 0, b: 1, direct: 0, relayed: 1, failed: 0 }]);
});

test('what is no label is refused, others see nothing of it, and it needs network:read', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('web-1');
  expect(await refusalOf(kit.ask('get_path_summary', { label: 'prod' }))).toBe('invalid_input /label');
  expect((await kit.foreign('get_path_summary')).groups).toEqual([]);
  expect(await refusalOf(kit.holding()('get_path_summary'))).toBe('forbidden network:read');
});
