import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, register } from '../kits/http/joining.ts';
import { mesh } from '../kits/process/run-command.ts';

/** Red, a title of the terminal, and a line of its own. */
const EVIL = '\u001b[31mred\u009b31m\u001b]0;title\u0007\u202e\u{e0001}\nINJECTED\r\u001b[1mbold';
/** Values that decide what a command does: with others it would end before it shows anything. */
const KEPT =
  /^(?:id|.*_?id|at|.*At|.*_at|from|to|token|status|phase|kind|type|code|action|slug|severity|risk|proof|verdict|state|protocol|cidr|address|apiVersion|version|next_cursor|session)$/i;

let harness: Harness;
let admin: { readonly token: string; readonly workspace: string };
let joinToken: string;
const home = mkdtempSync(path.join(tmpdir(), 'mesh-hostile-'));
/** A control plane that answers what the real one does, with something behind each text; or refuses everything so. */
let server: string;
let refuses = false;
let proxy: Server;

function poisoned(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return KEPT.test(key) ? value : `${value}${EVIL}`;
  if (Array.isArray(value)) return value.map((each) => poisoned(each, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, poisoned(inner, field)]));
}

beforeAll(async () => {
  harness = await startHarness();
  admin = await harness.workspace();
  joinToken = await joinTokenFor(harness, admin);
  for (const name of ['a', 'b']) await register(harness, joinToken, name);
  const policy = {
    name: 'open',
    spec: { action: 'ALLOW', peerSelector: {}, ingress: [{ from: [{ peerSelector: {} }] }] },
  };
  await harness.api('POST', '/api/v1/policies', { ...admin, body: policy });
  proxy = createServer(async (request, response) => {
    const body = [];
    for await (const chunk of request) body.push(chunk);
    const { host: _, 'content-length': __, connection: ___, ...headers } = request.headers;
    const answer = await fetch(new URL(request.url ?? '/', harness.url), {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body: Buffer.concat(body) }),
    });
    const text = await answer.text();
    response.setHeader('content-type', answer.headers.get('content-type') ?? 'application/json');
    const wire = answer.headers.get('mesh-wire');
    if (wire !== null) response.setHeader('mesh-wire', wire);
    if (refuses) {
      response.statusCode = 400;
      const errors = [{ pointer: '/name', detail: EVIL }];
      response.end(JSON.stringify({ code: 'invalid_input', title: `Refused${EVIL}`, detail: `No${EVIL}`, errors }));
      return;
    }
    response.statusCode = answer.status;
    const isJson = /json/.test(answer.headers.get('content-type') ?? '');
    response.end(isJson ? JSON.stringify(poisoned(JSON.parse(text))) : text);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  server = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterAll(async () => {
  proxy.close();
  await harness.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Commands that show what a control plane answers. */
const COMMANDS: readonly (readonly string[])[] = [
  ...['peers', 'policies', 'networks', 'agents', 'workflows', 'snapshots', 'workspaces', 'tokens'].map((one) => [one]),
  ['peers', 'a'],
  ['policies', 'open'],
  ['plan', 'let a reach b on port 443'],
  ['why', 'a', 'b'],
  ['history', 'a', 'b'],
  ['invite', '--link'],
  ['webhook', 'list'],
  ['compliance', 'assess', 'soc2', '--from', '1h'],
  ['admin', 'list-peers'],
  ['approve', 'wf_none'],
  ['mcp', 'config', '--output', path.join(home, 'mcp.json')],
  ['log'],
  ['access', 'a'],
  ['users'],
  ['settings'],
  ['settings', 'set', 'requireApproval=false'],
  ['rename', 'b', 'b'],
  ['undo', '--yes'],
];

const shown = async (line: readonly string[], more: Readonly<Record<string, string>> = {}) => {
  const env = {
    MESH_SERVER: server,
    MESH_TOKEN: admin.token,
    MESH_WORKSPACE: admin.workspace,
    FORCE_COLOR: '0',
    ...more,
  };
  const { stdout, stderr } = await mesh(line, { home, env });
  return stdout + stderr;
};

/** All that acts on a terminal but ends of lines and tabs. */
const ACTS = /[^\P{Cc}\n\t]|\p{Cf}/u;

test.each(COMMANDS.map((line) => [line.join(' '), line] as const))(
  'mesh %s lets no text of a control plane act on the terminal, or stand where its own lines do',
  async (_title, line) => {
    const text = await shown(line);
    expect(text).not.toBe('');
    expect(text.match(ACTS), text).toBe(null);
    expect(text).not.toMatch(/^INJECTED/m);
  },
);

test('YAML has escapes for what would act on the terminal, and says the same', async () => {
  const yaml = await shown(['workspaces', '-o', 'yaml']);
  expect(yaml).toContain('INJECTED');
  expect(yaml.match(ACTS), yaml).toBe(null);
  expect(JSON.stringify(load(yaml))).toContain('\u202e\u{e0001}\\nINJECTED');
});

test.each(
  [...COMMANDS, ['login', '--username', 'admin'], ['init', '--name', 'c']].map(
    (line) => [line.join(' '), line] as const,
  ),
)(
  'what a control plane refuses to mesh %s is said in lines that begin with its own words, or are indented',
  async (_title, line) => {
    refuses = true;
    const token = line[0] === 'init' ? { MESH_TOKEN: joinToken } : {};
    const text = await shown(line, { MESH_PASSWORD: 'x', ...token }).finally(() => {
      refuses = false;
    });
    expect(text.match(ACTS)).toBe(null);
    expect(text).not.toMatch(/^INJECTED/m);
    expect(text).toMatch(/Refused.*No/);
  },
);

test('mesh init takes no name, address or note that is more than a line', async () => {
  const text = await shown(['init', '--name', 'c'], { MESH_TOKEN: joinToken });
  expect(text.match(ACTS)).toBe(null);
  expect(text).not.toMatch(/^INJECTED/m);
});
