import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a network is found by id and by name, whatever its case', async () => {
  await using kit = await buildWorkspaceKit();
  const made = await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  expect(await kit.ask('get_network', { id: made.id })).toEqual(made);
  expect(await kit.ask('get_network', { id: 'LAB' })).toEqual(made);
});

test('a network of another workspace is unknown, and reading one needs network:read', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  expect(await refusalOf(kit.foreign('get_network', { id }))).toBe('not_found');
  expect(await refusalOf(kit.holding()('get_network', { id }))).toBe('forbidden network:read');
});
