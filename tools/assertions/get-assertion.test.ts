import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const TOGETHER = { src: 'web-1', dst: 'db-1', expect: 'reachable' };

test('an assertion is found by id and by name, and says whether it holds now', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  const made = await kit.ask('create_assertion', { name: 'db', ...TOGETHER });
  expect(await kit.ask('get_assertion', { id: made.id })).toEqual(made);
  await kit.ask('delete_peer', { id: 'db-1' });
  const { holds, detail } = (await kit.ask('get_assertion', { id: 'DB' })).status;
  expect([holds, detail]).toEqual([true, expect.stringContaining('db-1 left')]);
});

test('an assertion of another workspace is unknown, and reading one needs network:read', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  const { id } = await kit.ask('create_assertion', { name: 'db', ...TOGETHER });
  expect(await refusalOf(kit.foreign('get_assertion', { id }))).toBe('not_found');
  expect(await refusalOf(kit.holding()('get_assertion', { id }))).toBe('forbidden network:read');
});
