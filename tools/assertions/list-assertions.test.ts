import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const TOGETHER = { src: 'web-1', dst: 'db-1', expect: 'reachable' };

test('assertions are listed by name, page after page, and those of others are not', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  for (const name of ['b', 'a']) await kit.ask('create_assertion', { name, ...TOGETHER });
  const first = await kit.ask('list_assertions', { limit: 1 });
  expect(first).toMatchObject({ items: [{ name: 'a', status: { holds: true } }], next_cursor: 'a' });
  expect(await kit.ask('list_assertions', { cursor: 'a' })).toMatchObject({ items: [{ name: 'b' }] });
  expect(await kit.foreign('list_assertions')).toEqual({ items: [] });
});

test('a list of assertions takes no limit above 200, and needs network:read', async () => {
  await using kit = await buildWorkspaceKit();
  expect(await refusalOf(kit.ask('list_assertions', { limit: 201 }))).toBe('invalid_input /limit');
  expect(await refusalOf(kit.holding('network:write')('list_assertions'))).toBe('forbidden network:read');
});
