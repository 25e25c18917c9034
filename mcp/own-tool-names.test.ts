import { expect, test } from 'vitest';
import { startTestMcp } from './plane.testkit.ts';

test('an error names tools of its caller alone, and other operations by their routes', async () => {
  await using plane = await startTestMcp({ tools: ['get_workflow', 'find_cause'] });
  const client = await plane.connect('reader');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['get_workflow', 'find_cause']);
  const { isError, content } = await client.callTool({ name: 'get_workflow', arguments: { id: 'list_peers' } });
  expect([isError, content]).toMatchObject([
    true,
    [
      { text: 'Record not found: There is no workflow GET /api/v1/workspaces/:workspaceId/peers. See list_workflows.' },
      {},
    ],
  ]);
});
