import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { call, network, type Rest } from '../examples/first-change/person.ts';
import { startHarness } from '../test/kits/http/harness.ts';

/**
 * What the main job costs an agent that reads the text of each answer: `node bench/agent-tokens.ts`. A whole plane in this
 * process, the official MCP client, and the tokens of gpt-tokenizer 4.0.0 with o200k_base.
 */
const INTENT = 'let the web servers reach the database on port 5432 and nobody else';
const SCOPES = ['network:read', 'snapshots:read', 'intents:plan', 'intents:apply'];

const rows: string[] = [];
const total = { calls: 0, tokens: 0, json: 0 };

await using harness = await startHarness();
const person = await network(harness.url, await harness.login());
const { token } = await call<{ token: string }>(person, 'POST', '/api/v1/users/me/api-tokens', {
  name: 'bench',
  scopes: SCOPES,
  expiry: '1h',
});
const client = new Client({ name: 'agent-tokens', version: '1' }, { versionNegotiation: { mode: 'auto' } });
const requestInit = { headers: { authorization: `Bearer ${token}` } };
await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', harness.url), { requestInit }));

const beforehand = new Date().toISOString();
await use('list_peers', {});
await use('check_connectivity', { dst: 'db-1' });
const plan = await use('plan_network_change', { intent: INTENT });
const applied = await use('apply_network_change', { plan_id: plan['plan_id'] });
await approve(person, String(applied['workflow_id']));
await use('get_workflow', { id: applied['workflow_id'] });
await use('check_connectivity_at', { src: 'laptop', dst: 'db-1', port: 5432, at: beforehand });
await use('explain_denial', { src: 'laptop', dst: 'db-1', port: 5432 });

const listed = JSON.stringify({ tools: (await client.listTools()).tools });
await client.close();
console.log(`| Call | Text, characters | Text, tokens | The same as JSON, tokens |
|---|---|---|---|
${rows.join('\n')}
| ${total.calls} calls | | ${total.tokens} | ${total.json} |

tools/list: ${Buffer.byteLength(listed)} bytes, ${countTokens(listed)} tokens.`);

async function use(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  if (isError) throw new Error(`${name}: ${text}`);
  const [tokens, json] = [countTokens(text), countTokens(JSON.stringify(structuredContent))];
  rows.push(`| ${name} | ${text.length} | ${tokens} | ${json} |`);
  total.calls += 1;
  total.tokens += tokens;
  total.json += json;
  if (process.argv.includes('--show')) console.log(`## ${name}\n${text}\n`);
  return (structuredContent ?? {}) as Record<string, unknown>;
}

async function approve(rest: Rest, id: string): Promise<void> {
  await call(rest, 'POST', `/api/v1/workflows/${id}/approve`, { note: 'reviewed the effect' });
}
