import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const SHUT = { action: 'DENY', peerSelector: {}, ingress: [{}] };

test('policies are listed by name, page after page, and those of others are not', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['b', 'a']) await kit.ask('create_policy', { name, spec: SHUT });
  const first = await kit.ask('list_policies', { limit: 1 });
  expect(first).toMatchObject({ items: [{ name: 'a' }], next_cursor: 'a' });
  const rest = await kit.ask('list_policies', { limit: 1, cursor: first.next_cursor });
  expect(rest).toEqual({ items: [expect.objectContaining({ name: 'b' })] });
  expect(await kit.foreign('list_policies')).toEqual({ items: [] });
});

test('a list of policies takes no limit above 200, and needs network:read', async () => {
  await using kit = await buildWorkspaceKit();
  expect(await refusalOf(kit.ask('list_policies', { limit: 201 }))).toBe('invalid_input /limit');
  expect(await refusalOf(kit.holding('network:write')('list_policies'))).toBe('forbidden network:read');
});
