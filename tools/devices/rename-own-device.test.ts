import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a device has the name that it gave itself, and keeps its id', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1');
  expect(await kit.call('rename_own_device', { name: 'web 2' }, self)).toMatchObject({ id, name: 'web-2' });
});

test('a device takes no name of another and none that cannot be one, and sets no labels', async () => {
  await using kit = await buildWorkspaceKit();
  const { self } = await kit.join('web-1');
  await kit.join('db-1');
  const rename = (raw: Record<string, unknown>) => kit.call('rename_own_device', raw, self);
  expect(await refusalOf(rename({ name: 'DB-1' }))).toBe('conflict');
  expect(await refusalOf(rename({ name: '/' }))).toBe('invalid_input /name');
  expect(await refusalOf(rename({ name: 'web-2', labels: {} }))).toBe('invalid_input /labels');
});

test('only a device is answered, and it needs its own token', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('web-1');
  expect(await refusalOf(kit.ask('rename_own_device', { name: 'web-2' }))).toBe('forbidden device');
  expect(await refusalOf(kit.call('rename_own_device', { name: 'web-2' }))).toBe('unauthenticated');
});
