import { expect, test } from 'vitest';
import { describeTool } from '../mcp/schemas.ts';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';

/** What an agent reads before its first call, with room for each tool that is not there yet; about 5,000 tokens. */
const MAX_LIST_BYTES = 22_000;
const ROOM_FOR_A_TOOL = 1_200;

const tools = operations
  .filter(({ name }) => MCP_TOOLS.includes(name))
  .map((operation) => describeTool(operation as never).plain);

test('the list of tools stays short enough for the context of an agent', () => {
  const missing = MCP_TOOLS.length - tools.length;
  expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(MAX_LIST_BYTES - missing * ROOM_FOR_A_TOOL);
});

test('an agent sees what a typed change of a policy has, what it needs and its limits', () => {
  const { inputSchema } = tools.find(({ name }) => name === 'plan_network_change') ?? {};
  expect(inputSchema).toMatchObject({
    properties: { changes: { maxItems: 50, items: { properties: { spec: { $ref: '#/$defs/ChangeSpec' } } } } },
    $defs: {
      ChangeSpec: {
        anyOf: expect.arrayContaining([
          expect.objectContaining({
            required: ['action', 'peerSelector'],
            properties: expect.objectContaining({ peerSelector: { $ref: '#/$defs/Selector' } }),
          }),
        ]),
      },
      Selector: { properties: { peers: { maxItems: 256, items: { type: 'string' } } } },
      Peers: { maxItems: 4_000 },
      Ports: { maxItems: 1_000 },
    },
  });
});
