import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('agents are listed by name, page after page, and by the phase that is asked for', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['b', 'a']) await kit.ask('create_agent', { name });
  await kit.ask('revoke_agent', { id: 'b' });
  expect(await kit.ask('list_agents', { limit: 1 })).toMatchObject({ items: [{ name: 'a' }], next_cursor: 'a' });
  expect((await kit.ask('list_agents', { phase: 'Revoked' })).items).toMatchObject([{ name: 'b' }]);
  expect(await kit.foreign('list_agents')).toEqual({ items: [] });
});

test('a list of agents takes no phase that there is not, and needs network:read', async () => {
  await using kit = await buildWorkspaceKit();
  expect(await refusalOf(kit.ask('list_agents', { phase: 'Asleep' }))).toBe('invalid_input /phase');
  expect(await refusalOf(kit.holding('agents:delegate')('list_agents'))).toBe('forbidden network:read');
});
