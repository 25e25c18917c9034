import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('an agent is shown as a record and as a custom resource, by id or name', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.ask('create_agent', { name: 'planner', ttl: '1h' });
  for (const given of [id, 'PLANNER']) {
    const shown = await kit.ask('get_agent', { id: given });
    expect(shown).toMatchObject({ id, name: 'planner', phase: 'Active', ttl: '1h' });
    expect(shown).toMatchObject({ kind: 'AgentIdentity', metadata: { name: 'planner', uid: id }, spec: { ttl: '1h' } });
  }
});

test('an agent without network:read reads itself and no other', async () => {
  await using kit = await buildWorkspaceKit();
  const { token } = await kit.ask('create_agent', { name: 'planner', scopes: ['agents:delegate'] });
  await kit.ask('create_agent', { name: 'other' });
  const read = (id: string) => kit.call('get_agent', { id }, { bearer: token });
  expect(await read('self')).toMatchObject({ name: 'planner' });
  expect(await refusalOf(read('other'))).toBe('forbidden');
  expect(await refusalOf(kit.ask('get_agent', { id: 'none' }))).toBe('not_found');
  expect(await refusalOf(kit.foreign('get_agent', { id: 'planner' }))).toBe('not_found');
});
