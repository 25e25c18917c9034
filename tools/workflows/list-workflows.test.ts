import { expect, test } from 'vitest';
import { buildHeldKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('workflows are listed by the state that is asked for, and those of others are not', async () => {
  await using kit = await buildHeldKit();
  expect((await kit.ask('list_workflows', { status: 'pending' })).items).toMatchObject([{ id: kit.held }]);
  expect(await kit.ask('list_workflows', { status: 'executed' })).toEqual({ items: [] });
  expect(await kit.foreign('list_workflows')).toEqual({ items: [] });
});

test('workflows are listed by who asked for them', async () => {
  await using kit = await buildHeldKit();
  const of = async (requested_by: string) => (await kit.ask('list_workflows', { requested_by })).items;
  expect(await of('user:operator')).toMatchObject([{ id: kit.held }]);
  expect(await of('agent:operator')).toEqual([]);
});

test('a list of workflows takes no state that there is not, and needs network:read', async () => {
  await using kit = await buildHeldKit();
  expect(await refusalOf(kit.ask('list_workflows', { status: 'lost' }))).toBe('invalid_input /status');
  expect(await refusalOf(kit.holding()('list_workflows'))).toBe('forbidden network:read');
});
