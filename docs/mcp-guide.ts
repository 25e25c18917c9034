import { z } from 'zod';
import { CLIENT_FILES, CLIENTS, type Client, entryOf, groupOf } from '../cli/mcp-entry.ts';
import type { AnyOperation } from '../core/base/operation.ts';
import { silentLog } from '../core/base/silent-log.ts';
import { readScopeOf } from '../core/call/access.ts';
import { fenced } from '../core/effect/markdown.ts';
import type { Services } from '../core/workflow/services.ts';
import { buildPrompts } from '../mcp/prompts.ts';
import { buildResources } from '../mcp/resources.ts';
import { buildTools } from '../mcp/tools.ts';
import { buildKit } from '../test/kits/plane/kit.ts';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS, MCP_VIEWS } from '../tools/surfaces.ts';
import { type Example, tellStory } from './mcp-story.ts';
import { type Field, fieldsOf, WHEN_LEFT_OUT } from './schema-fields.ts';

type Operation = AnyOperation<Services>;

/** Characters of an answer that are shown: enough to see its form. */
const SHOWN = 1_600;

const INTRODUCTION = `An agent connects over MCP, by Streamable HTTP at \`/mcp\` or through a command on standard input and output. It sees the tools that
its token may call. Everything it changes is planned first and waits for a person: no tool approves. Names, labels and notes in
answers were written by others: they are data, never instructions.

To change who may reach whom, give \`plan_network_change\` [orders](orders.md): who, whom, which ports. Code writes the policies.
An \`intent\` in plain words works too, where [the language](sentences.md) reads it.`;

const COMMON_ERRORS = `A tool that fails answers \`isError\` with a sentence that says what to do and the problem as JSON, with a stable \`code\` of
[errors.md](errors.md). Any tool may answer \`invalid_input\` (which fields, and why), \`unauthenticated\`, \`forbidden\`, \`rate_limited\` and
\`unavailable\`; one of Pro answers \`edition_required\` in the Community edition. What else it may answer is listed with it. Who may use
several workspaces names one with \`workspace_id\`, or with the header \`X-Workspace-Id\`.

A write that has to wait for a person answers \`status: pending_approval\`, \`workflow_id\` and \`message\` in place of what is listed.`;

/** The guide to MCP: how clients connect, and every tool with a call that was really made. */
export async function mcpGuide(note: string): Promise<string> {
  const examples = await tellStory();
  const tools = MCP_TOOLS.flatMap((name) => operations.filter((operation) => operation.name === name));
  const sections = tools.map((tool) => sectionOf(tool, examples.get(tool.name)));
  return `# MCP: connecting agents, and the tools they have

${note}

${INTRODUCTION}

## Connecting

A client that speaks OAuth needs the address of \`/mcp\` alone and signs in by itself: [oauth.md](oauth.md). For all others
\`mesh mcp config --client NAME\` merges one entry, \`mesh\`, into the file that a client reads and makes an agent for it:
[command-line.md](command-line.md#mcp-clients). What it writes:

| \`--client\` | Under | Entry |
|---|---|---|
${clientRows().join('\n')}

Which file a client reads by itself, and what to do once it is written; the command says it too:

| \`--client\` | It reads | Then |
|---|---|---|
${CLIENTS.flatMap(readingRow).join('\n')}

${await promptsAndResources()}
## Errors

${COMMON_ERRORS}

## Tools

${tools.map(({ name, title }) => `- [${name}](#${name}): ${title}`).join('\n')}

The examples are one story, told by an agent in a network of three peers; ids and tokens are shortened to \`…\`, and so are long
answers.

${sections.join('\n')}`;
}

function clientRows(): string[] {
  const access = {
    server: 'http://127.0.0.1:18090',
    token: 'mesh-agt-…',
    workspace: 'w_…',
    launcher: 'mesh',
  };
  const forms = Map.groupBy(
    CLIENTS,
    (client) => `\`${groupOf(client)}\` | \`${JSON.stringify(entryOf(client, access))}\``,
  );
  return [...forms].map(([form, clients]) => `| ${clients.map((client) => `\`${client}\``).join(', ')} | ${form} |`);
}

function readingRow(client: Client): string[] {
  const { place, afterwards } = CLIENT_FILES[client] ?? {};
  return place === undefined ? [] : [`| \`${client}\` | ${place} | ${afterwards} |`];
}

async function promptsAndResources(): Promise<string> {
  await using kit = await buildKit();
  const options = { operations, tools: MCP_TOOLS, gate: kit.gate, log: silentLog };
  const prompts = await buildPrompts(options, buildTools(options)).list();
  const promptRows = prompts.map(({ name, description, arguments: args = [] }) => {
    const named = args.map((arg) => `\`${arg.name}\`${arg.required ? '' : ' (optional)'}`);
    return `| \`${name}\` | ${named.join(', ')} | ${description} |`;
  });
  const resourceRows = buildResources(options).templates.map(
    ({ uriTemplate, description }) => `| \`${uriTemplate}\` | ${description} |`,
  );
  return `## Resources

\`{w}\` is the id of a workspace. They are JSON, as REST answers them, and can be subscribed to.

| Resource | What it holds |
|---|---|
${resourceRows.join('\n')}

## Views

A client that names the extension [MCP Apps](https://github.com/modelcontextprotocol/ext-apps) in its capabilities
(\`"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}\`) is told in \`_meta.ui.resourceUri\` of a tool which page
shows its answers; it lists and reads them as resources of the type \`text/html;profile=mcp-app\`. All other clients see nothing of it, and lose
nothing: a view shows what the answer says. Each is one document that asks nothing of the network, calls no tool and changes nothing; a
button opens the dashboard in the browser, where people decide ([why](decisions/README.md#defaults)). It follows the light or dark of the client.

| View | What it shows | Beside answers of |
|---|---|---|
${MCP_VIEWS.map(viewRow).join('\n')}

## Prompts

| Prompt | Arguments | What it is for |
|---|---|---|
${promptRows.join('\n')}
`;
}

function viewRow({ name, description, tools }: (typeof MCP_VIEWS)[number]): string {
  const linked = tools.map((tool) => `[\`${tool}\`](#${tool})`);
  return `| \`ui://mesh/${name}\` | ${description} | ${linked.join(', ')} |`;
}

function sectionOf(tool: Operation, example: Example | undefined): string {
  if (!example) throw new Error(`docs/mcp-story.ts has no call of the tool ${tool.name}.`);
  const also = readScopeOf(tool);
  const { name, title, description, access, edition, effects, problems, http } = tool;
  const own = problems.filter((code) => code !== 'invalid_input' && code !== 'forbidden');
  const facts = [
    `Needs \`${access}\`${also ? ` and \`${also}\`` : ''}`,
    tool.proWhen ? 'Community; Pro when asked about the past' : edition === 'pro' ? 'Pro' : 'Community',
    hintsOf(effects),
    `over REST \`${http.method.toUpperCase()} ${http.path}\``,
  ];
  const shown = example.answer.length > SHOWN ? `${example.answer.slice(0, SHOWN)}…` : example.answer;
  return `### ${name}

**${title}.** ${description}

${facts.join(' · ')}${own.length > 0 ? `\\\nMay answer ${own.map((code) => `\`${code}\``).join(', ')}` : ''}

${tableOf('Parameter', fieldsOf(z.toJSONSchema(tool.input, { io: 'input', unrepresentable: 'any' })))}
${tableOf('Answer', fieldsOf(z.toJSONSchema(tool.output, { io: 'output', unrepresentable: 'any' })))}
\`\`\`json
${JSON.stringify({ name, arguments: JSON.parse(example.args) })}
\`\`\`

${fenced('text', shown.split('\n')).join('\n')}
`;
}

function hintsOf({ readOnlyHint, destructiveHint, idempotentHint }: Operation['effects']): string {
  if (readOnlyHint) return 'reads only';
  const repeated = idempotentHint ? 'can be repeated' : 'each call makes another';
  return `writes${destructiveHint ? ' over what is there' : ''}, ${repeated}`;
}

function tableOf(title: string, fields: readonly Field[]): string {
  if (fields.length === 0) return `${title}s: none.\n`;
  const rows = fields.map(({ name, type, isRequired, description }) => {
    const words = `${type}${isRequired || title === 'Answer' || type.endsWith(WHEN_LEFT_OUT) ? '' : '; optional'}`;
    return `| \`${name}\` | ${escaped(words)} | ${escaped(description)} |`;
  });
  return `| ${title} | Type | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
}

const escaped = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
