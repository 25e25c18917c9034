import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a new network has its block, and as many free addresses as that holds', async () => {
  await using kit = await buildWorkspaceKit();
  const made = await kit.ask('create_network', { name: 'my lab', spec: { cidr: '10.97.0.0/30' } });
  expect(made).toMatchObject({ name: 'my-lab', spec: { cidr: '10.97.0.0/30', mtu: 1280, defaultAction: 'ALLOW' } });
  expect(made.status).toEqual({ peers: 0, allocated: 0, available: 2 });
});

test('a network needs a name, a block that no other has, and a maker with network:write', async () => {
  await using kit = await buildWorkspaceKit();
  const make = (raw: Record<string, unknown>) => kit.ask('create_network', raw);
  expect(await refusalOf(make({ name: 'lab' }))).toBe('invalid_input /spec');
  expect(await refusalOf(make({ spec: { cidr: '10.97.0.0/24' } }))).toBe('invalid_input /name');
  expect(await refusalOf(make({ name: 'lab', spec: { cidr: '10.97.0.1/24' } }))).toBe('invalid_input /spec/cidr');
  expect(await refusalOf(make({ name: 'DEFAULT', spec: { cidr: '10.97.0.0/24' } }))).toBe('conflict');
  expect(await refusalOf(kit.as('viewer')('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } }))).toBe(
    'forbidden network:write',
  );
});
