import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const TOGETHER = { src: 'web-1', dst: 'db-1', expect: 'reachable' };

test('a deleted assertion is answered by its name and stops nothing any more', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  await kit.ask('create_assertion', { name: 'db', ...TOGETHER });
  expect(await kit.ask('delete_assertion', { id: 'DB' })).toEqual({ deleted: 'db' });
  const spec = { action: 'DENY', peerSelector: {}, ingress: [{}] };
  expect(await kit.ask('create_policy', { name: 'shut', spec })).toMatchObject({ name: 'shut' });
});

test('an assertion is deleted where it is, by who has network:write', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  const { id } = await kit.ask('create_assertion', { name: 'db', ...TOGETHER });
  expect(await refusalOf(kit.ask('delete_assertion', { id: 'none' }))).toBe('not_found');
  expect(await refusalOf(kit.foreign('delete_assertion', { id }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('delete_assertion', { id }))).toBe('forbidden network:write');
});
