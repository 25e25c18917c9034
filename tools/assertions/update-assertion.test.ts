import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const APART = { src: 'web-1', dst: 'db-1', expect: 'unreachable' };
const TOGETHER = { ...APART, expect: 'reachable' };

test('an assertion that is replaced says the new, and keeps its name and labels', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  const { id } = await kit.ask('create_assertion', { name: 'db', labels: { team: 'a' }, ...TOGETHER });
  const updated = await kit.ask('update_assertion', { id, ...TOGETHER, port: 5432 });
  expect(updated).toMatchObject({ id, name: 'db', labels: { team: 'a' }, spec: { protocol: 'TCP', port: 5432 } });
});

test('what replaces an assertion has to hold and may not rename it, and needs network:write', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  const { id } = await kit.ask('create_assertion', { name: 'db', ...TOGETHER });
  expect(await refusalOf(kit.ask('update_assertion', { id, ...APART }))).toBe('policy_assertion_failed');
  expect(await refusalOf(kit.ask('update_assertion', { id, name: 'other', ...TOGETHER }))).toBe('invalid_input /name');
  expect(await refusalOf(kit.ask('update_assertion', { id: 'none', ...TOGETHER }))).toBe('not_found');
  expect(await refusalOf(kit.foreign('update_assertion', { id, ...TOGETHER }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('update_assertion', { id, ...TOGETHER }))).toBe('forbidden network:write');
});
