import { expect, test } from 'vitest';
import { draftOf } from '../../core/base/record.ts';
import { buildKit, person } from '../../test/kits/plane/kit.ts';
import { agent } from '../../test/kits/records/records.ts';
import { MAX_AGENTS } from './get-agent-tree.ts';

test('a large tree is cut after its first agents, and says how many were left out', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const children = Array.from({ length: MAX_AGENTS + 5 }, (_, index) =>
    agent(`child-${index}`, { parentRef: { name: 'root', namespace: 'ns' } }, { depth: 1 }),
  );
  const ops = [agent('root'), ...children].map((record) => ({ op: 'create', record: draftOf(record) }) as const);
  await kit.services.store.commit(workspace, ops, { actor: 'user:test', reason: 'test', requestId: 'r_test' });
  const as = person('viewer', workspace);
  const { items, omitted } = await kit.call('get_agent_tree', { id: 'root' }, { as, workspace });
  expect({ first: items[0].name, shown: items.length, omitted }).toEqual({
    first: 'root',
    shown: MAX_AGENTS,
    omitted: 6,
  });
});
