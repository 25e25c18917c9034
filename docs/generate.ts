import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { environment, file } from '../bin/compose/config.ts';
import { COMMAND_VARIABLES } from '../core/base/command-variables.ts';
import { problems } from '../core/base/errors.ts';
import { readScopeOf } from '../core/call/access.ts';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';
import { compliancePage } from './compliance-page.ts';
import { answers, limits } from './limits.ts';
import { mcpGuide } from './mcp-guide.ts';
import { MESHD } from './meshd-options.ts';
import { riskPage } from './risk-page.ts';
import { webhooksPage } from './webhooks-page.ts';

/** The pages that are made from the source, by file name. `npm run docs` writes them; a test fails while one is stale. */
export const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  'configuration.md': configuration,
  'operations.md': operationTable,
  'errors.md': errorTable,
  'limits.md': limitTables,
  'risk.md': () => riskPage(NOTE),
  'webhooks.md': () => webhooksPage(NOTE),
  'compliance.md': () => compliancePage(NOTE),
  'mcp.md': () => mcpGuide(NOTE),
};

/** Where a reader goes on from each page. */
const NEXT: Readonly<Record<string, readonly string[]>> = {
  'configuration.md': ['operating.md', 'reverse-proxy.md'],
  'operations.md': ['errors.md', 'limits.md'],
  'errors.md': ['limits.md', 'operations.md'],
  'limits.md': ['errors.md', 'configuration.md'],
  'risk.md': ['policy.md', 'delegation.md'],
  'webhooks.md': ['events.md', 'operating.md'],
  'compliance.md': ['evidence.md', 'reviews.md'],
  'mcp.md': ['delegation.md', 'models.md'],
};

const NOTE = '<!-- Made by `npm run docs`. Edit the source it names, not this page. -->';

function startOptions(): string {
  return MESHD.options
    .map(({ flags, description }) => `| \`${flags}\` | ${description.replaceAll('<', '&lt;')} |`)
    .join('\n');
}

function configuration(): string {
  const rows = Object.entries(environment.shape).map(([name, schema]) => {
    const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    const cells = [
      schema.description ?? '',
      acceptedBy(schema),
      json.default === undefined ? '' : `\`${json.default}\``,
    ];
    return `| \`${name}\` | ${cells.map((cell) => cell.replaceAll('<', '&lt;')).join(' | ')} |`;
  });
  const keys = boundsIn(z.toJSONSchema(file, { io: 'input', unrepresentable: 'any' }));
  return `# Configuration

${NOTE}

Environment variables of \`meshd\` (\`bin/compose/config.ts\`). All problems are reported at once, each by its name. A variable that is empty is none.

| Variable | Meaning | Accepted | Default |
|---|---|---|---|
${rows.join('\n')}

Of \`mesh\`, and of \`meshd\` where it is said (\`core/base/command-variables.ts\`):

| Variable | Meaning |
|---|---|
${Object.entries(COMMAND_VARIABLES)
  .map(([name, meaning]) => `| \`${name}\` | ${meaning} |`)
  .join('\n')}

Options of \`meshd\` when it starts; its other commands are in \`meshd --help\`:

| Option | Meaning |
|---|---|
${startOptions()}

\`<config-dir>/config.yaml\` (the directory is \`~/.meshd\` unless \`--config-dir\` says otherwise):

\`\`\`yaml
app:
  initAdmins:            # accounts made at first start; without them \`admin\` has the built-in password, on this machine only
    - { username: admin, password: change-me-at-once }
  planTtl: 10m           # life of an intent plan
  rateLimit: 6000        # requests a minute from one source address; of one person or agent 5 times, of one workspace 20 times as many
  publicUrls: []         # addresses of this control plane, such as https://mesh.example.com: see below; join links,
                         # join and delegate tokens, and approval addresses name the first
  trustProxy: false      # whose X-Forwarded-For and X-Forwarded-Proto count: true, a number of proxies, or their addresses
  backups: { every: 24h, keep: 7 }    # of the database, beside it: how often and how many; or off
  relays: []             # relays beside the one of the environment: { name, url, region, capacity }, see relays.md
  stun: []               # STUN servers given to nodes beside MESH_STUN_URL, <host>:<port>
  webhooks: { allow: [] }    # hosts, addresses and CIDRs that are not on the internet and webhooks may be sent to, see webhooks.md
  oauth: { registration: anyone, allow: [] }    # who may register OAuth clients, and what is not on the internet and may describe them, see oauth.md
                         # or { issuer: https://id.example.com, grants: [] }: another authorization server, and what its claims give;
                         # with identityAssertions: { clients: [] } clients bring assertions of it here
  metrics: open          # who may read /metrics: open, local (this machine), off, or { token: <bearer token> }
  signIn:                # how people sign in, see accounts-and-tokens.md#rules-for-signing-in; read at start
    secondFactor: optional    # administrators: who administers the installation or a workspace must have one
    passwordLength: 8         # least characters; 12 for PCI DSS 8.3.6
    passwordHistory: 4        # passwords that an account does not choose again, the present one included
    # passwordMaxAge: 90d     # a password so old is changed at the next login; no limit where it is not set
    # idleTimeout: 15m        # a session that is not used for so long ends; 1m to 12h; never where it is not set
    lockAfter: 10             # failed logins in a row that lock an account for their address
    lockFor: 30m              # the first lock; each further one takes twice as long, up to a day
    # onlyLocalAccount: admin # with oidc: the one account that a password lets in, and on the host alone, see sign-in.md
  oidc: []               # issuers that people sign in by, see sign-in.md
  kubernetes: []         # clusters that judge tokens of their pods: { name, server, caFile, tokenFile }, see workloads.md
\`\`\`

| Key | Accepted |
|---|---|
${keys.map(([key, bound]) => `| \`${key}\` | ${bound} |`).join('\n')}

A \`config.yaml\` with a password, a token or the secret of a client in it that others can read is narrowed to mode 0600 where it is the service's own
file; else the log names it at each start.

\`publicUrls\`: a request that a browser made (with \`Origin\` or a cookie), and one that comes over the loopback without a
bearer token, must name the control plane in \`Host\`: by an address, a name of the loopback, the name of the machine, a name
in \`MESH_LISTEN\`, \`MESH_TLS_CERT\` or the addresses given to nodes, or one of these. Any other gets 403
\`host_not_allowed\`, which says what to add. Nodes, agents and scripts with a token are not asked; neither are
\`/healthz\` and \`/readyz\`. Set it where a reverse proxy passes its own name on, or people open the page by a name. Join links and tokens name the first
that is not of the loopback; without one, tokens carry no address, and \`mesh invite\` names the address of its login.

\`trustProxy\`: behind a reverse proxy, so that limits count each client and not the proxy. A number counts proxies from this
end, a list names their addresses and networks (\`loopback\`, \`linklocal\` and \`uniquelocal\` are known); \`true\` believes
whatever the client says, so only where nothing but the proxy can connect. While it is off, the headers count for nothing.
The limit of connections from one address does not hold for proxies that are named here; with \`true\` or a number, for nobody.

Generated secrets are in \`<config-dir>/credentials.json\` (mode 0600, refused at start if wider).
`;
}

/** No address, number, duration or word that a variable takes. */
const WRONG = ' ';

/** What a variable takes: its bounds, else what it says of a value that is none. */
function acceptedBy(schema: z.ZodType): string {
  const bound = boundOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  if (bound !== undefined) return bound;
  const [issue] = schema.safeParse(WRONG).error?.issues ?? [];
  return issue?.message.replace(/, got .*/, '').replace(/^must (be |have the form )?/, '') ?? '';
}

function boundOf({ enum: values, minimum, maximum, minLength, maxLength }: JsonSchema): string | undefined {
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  const unit = minLength === undefined && maxLength === undefined ? '' : ' characters';
  const [low = minimum, high = maximum] = [minLength, maxLength];
  // Not empty goes without saying.
  const from = unit !== '' && low === 1 ? undefined : low;
  const to = high === Number.MAX_SAFE_INTEGER ? undefined : high;
  if (from !== undefined && to !== undefined) return `${plain(from)} to ${plain(to)}${unit}`;
  if (from !== undefined) return `at least ${plain(from)}${unit}`;
  return to === undefined ? undefined : `at most ${plain(to)}${unit}`;
}

/** Every key below a schema that has bounds, and those. */
function boundsIn(schema: JsonSchema, key = ''): [string, string][] {
  const bound = boundOf(schema);
  const { properties = {}, items, anyOf = [] } = schema;
  return [
    ...(bound === undefined ? [] : [[key, bound] as [string, string]]),
    ...Object.entries(properties).flatMap(([name, field]) =>
      boundsIn(field as JsonSchema, key === '' ? name : `${key}.${name}`),
    ),
    ...(items === undefined ? [] : boundsIn(items as JsonSchema, `${key}[]`)),
    ...anyOf.flatMap((branch) => boundsIn(branch as JsonSchema, key)),
  ];
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

function plain(bound: number): string {
  return bound.toLocaleString('en');
}

function operationTable(): string {
  const tools = new Set(MCP_TOOLS);
  const rows = operations.map((operation) => {
    const { name, title, http, access, edition } = operation;
    const needs = [access, readScopeOf(operation) ?? []].flat().join(', ');
    const route = `\`${http.method.toUpperCase()} ${http.path}\``;
    return `| \`${name}\` | ${title} | ${route} | ${needs} | ${edition} | ${tools.has(name) ? 'yes' : ''} |`;
  });
  return `# Operations

${NOTE}

Each is a REST route, a \`mesh admin\` command (with hyphens) and an entry of \`/api/v1/openapi.json\`; some are MCP tools.

| Operation | What it does | Route | Access | Edition | MCP tool |
|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

function errorTable(): string {
  const rows = Object.entries(problems).map(([code, { status, title }]) => `| ${status} | \`${code}\` | ${title} |`);
  return `# Problems

${NOTE}

Every failure is \`application/problem+json\` (RFC 9457) with a true HTTP status and one of these codes.

| Status | Code | Title |
|---|---|---|
${rows.join('\n')}

## A sentence that is not read

\`intent_not_understood\` of a plan has these fields beside \`detail\`, over REST and in the text of the MCP tool. An agent checks
every part of the draft, completes it and sends it as \`orders\` ([orders](orders.md)), instead of guessing another sentence.

| Field | Meaning |
|---|---|
| \`reason\`, \`questions\` | why it was not read, and what to answer |
| \`draft.orders\` | the certain parts of its orders: \`from\`, \`to\`, \`ports\` or \`for\` are empty and \`do\` is left out where they are not certain, so that a draft is refused as it is |
| \`draft.unread\` | words of the sentence that were not read |
| \`vocabulary.labels\` | labels of the network, the most frequent first, each value with the number of its peers |
| \`vocabulary.near\` | words of the sentence that no name has, with the names near them |
| \`choices\` | sentences that can be sent instead as they are; their orders are those of the draft |
| \`next\` | what an agent does next, in one sentence |
| \`warnings\` | why a configured model did not answer either |

The vocabulary is empty for callers without \`network:read\`. All of it is bounded, however large the network is.
`;
}

function limitTables(): string {
  const tables = Object.entries(limits).map(([of, rows]) => {
    const lines = rows.map(([what, limit, unit]) => `| ${what} | ${limit.toLocaleString('en')} ${unit} |`);
    return `## ${of}\n\n| What | At most |\n|---|---|\n${lines.join('\n')}\n`;
  });
  const rows = Object.entries(answers).map(([name, bound]) => `| \`${name}\` | ${bound} |`);
  return `# Limits

${NOTE}

What is more is refused with \`invalid_input\` or \`payload_too_large\` and the field that it is in. Texts are one line of
printable characters unless several lines are said. A record is stored with at most 8 KB compressed. Limits of the bus, the
relay and STUN are in their own pages: [bus](../net/nats/README.md), [relay](../net/relay/README.md),
[STUN](../net/stun/README.md); rates are in [configuration](configuration.md).

${tables.join('\n')}
## Lists in answers that are no pages

By the field or the operation.

| Of | At most |
|---|---|
${rows.join('\n')}
`;
}

async function withNavigation(name: string): Promise<string> {
  const next = (NEXT[name] ?? []).map((page) => `[${page}](${page})`).join(', ');
  return `${await pages[name]?.()}\nBack to [all pages](README.md). Next: ${next}.\n`;
}

if (import.meta.main) {
  for (const name of Object.keys(pages)) writeFileSync(new URL(name, import.meta.url), await withNavigation(name));
}

/** Tells whether a page on disk says what the source says. */
export async function isFresh(name: string): Promise<boolean> {
  return readFileSync(new URL(name, import.meta.url), 'utf8') === (await withNavigation(name));
}
