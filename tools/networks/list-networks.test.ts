import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('networks are listed by name, page after page', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  const first = await kit.ask('list_networks', { limit: 1 });
  expect(first).toMatchObject({ items: [{ name: 'default' }], next_cursor: 'default' });
  const rest = await kit.ask('list_networks', { limit: 1, cursor: first.next_cursor });
  expect(rest).toEqual({ items: [expect.objectContaining({ name: 'lab' })] });
});

test('a list of networks shows those of its workspace alone, has pages of at least one, and needs network:read', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  expect((await kit.foreign('list_networks')).items).toHaveLength(1);
  expect(await refusalOf(kit.ask('list_networks', { limit: 0 }))).toBe('invalid_input /limit');
  expect(await refusalOf(kit.holding('network:write')('list_networks'))).toBe('forbidden network:read');
});
