import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a snapshot says who took it and when, and is listed', async () => {
  await using kit = await buildWorkspaceKit();
  const taken = await kit.ask('take_snapshot');
  expect(taken).toMatchObject({
    trigger_type: 'manual',
    triggered_by: 'user:admin',
    captured_at: '2026-01-05T12:00:00.000Z',
  });
  expect((await kit.ask('list_snapshots', { trigger_type: 'manual' })).items).toEqual([taken]);
});

test('a snapshot takes no fields, and needs snapshots:write', async () => {
  await using kit = await buildWorkspaceKit();
  expect(await refusalOf(kit.ask('take_snapshot', { name: 'x' }))).toBe('invalid_input /name');
  expect(await refusalOf(kit.as('viewer')('take_snapshot'))).toBe('forbidden snapshots:write');
});
