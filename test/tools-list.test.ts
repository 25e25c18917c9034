import { expect, test } from 'vitest';
import { describeTool } from '../mcp/schemas.ts';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';

/** Bytes that an agent reads before its first call, with room for each tool that is not there yet; about 4,000 tokens. */
const MAX_LIST_BYTES = 16_384;
const ROOM_FOR_A_TOOL = 1_200;

const tools = operations
  .filter(({ name }) => MCP_TOOLS.includes(name))
  .map((operation) => describeTool(operation as never).plain);

test('the list of tools stays short enough for the context of an agent', () => {
  const missing = MCP_TOOLS.length - tools.length;
  expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(MAX_LIST_BYTES - missing * ROOM_FOR_A_TOOL);
});

test('an agent sees orders, and none of the fields that they replace', () => {
  const { inputSchema } = tools.find(({ name }) => name === 'plan_network_change') ?? {};
  expect(Object.keys(inputSchema?.properties ?? {})).toEqual([
    ...['intent', 'orders', 'hold', 'documents', 'set', 'delete', 'dry_run', 'revert'],
  ]);
  expect(inputSchema).toMatchObject({
    properties: { orders: { maxItems: 20, items: { required: ['do', 'from', 'to'] } }, documents: { type: 'string' } },
  });
});
