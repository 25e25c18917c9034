import { gzipSync } from 'node:zlib';

/** One request; without a body it is a GET. */
export interface Sent {
  readonly path: string;
  readonly token?: string;
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A body that is made to be costly, and a plain one of the same bytes to the same operation. */
export interface Pair {
  readonly what: string;
  readonly hostile: Sent;
  readonly plain: Sent;
}

export interface Place {
  readonly workspace: string;
  readonly admin: string;
  readonly agent: string;
  /** They are called `peer-0` and on. */
  readonly peers: number;
}

const LOGIN = '/api/v1/users/login';
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const absent = () => 'absent';
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

export function bodiesOf({ workspace, admin, agent, peers }: Place): Pair[] {
  const headers = { 'x-workspace-id': workspace };
  const known = (at: number) => `peer-${at % peers}`;
  const unknown = (at: number) => `pear-${at}`;
  /** The plain one is a long text in the field that is hostile in the other. */
  const text = (
    what: string,
    path: string,
    token: string | undefined,
    bodyOf: (value: string) => string,
    value: string,
  ) => {
    const hostile = Buffer.from(bodyOf(value));
    const plain = Buffer.from(bodyOf(`"${'x'.repeat(value.length - 2)}"`));
    const to = { path, ...(token !== undefined && { token, headers }) };
    return { what, hostile: { ...to, body: hostile }, plain: { ...to, body: plain } };
  };
  /** The plain one is the same value with names that peers have, or entries that are right. */
  const value = (what: string, path: string, token: string, hostile: unknown, plain: unknown) => {
    const [a, b] = [JSON.stringify(hostile), JSON.stringify(plain)].map((one) => Buffer.from(one ?? ''));
    const length = Math.max(a?.length ?? 0, b?.length ?? 0);
    const padded = (body = Buffer.alloc(0)) => Buffer.concat([body, Buffer.alloc(length - body.length, ' ')]);
    const to = { path, token, headers };
    return { what, hostile: { ...to, body: padded(a) }, plain: { ...to, body: padded(b) } };
  };
  const login = (username: string) => `{"username":${username},"password":"x"}`;
  const gzipped = text('', LOGIN, undefined, login, nested(50_000));
  const compressed = (sent: Sent): Sent => ({
    ...sent,
    body: gzipSync(sent.body ?? ''),
    headers: { 'content-encoding': 'gzip' },
  });
  const call = (name: string, args: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args},"_meta":${META}}}`;
  const mcp = (pair: Pair): Pair => {
    const more = { ...headers, ...MCP_HEADERS };
    return { ...pair, hostile: { ...pair.hostile, headers: more }, plain: { ...pair.plain, headers: more } };
  };
  const keys = (count: number) => `{${times(count, (at) => `"k${at}":1`).join()}}`;
  const fields = times(90_000, (at) => `"k${at}":1`).join();

  return [
    text('login, nested 150,000 levels', LOGIN, undefined, login, nested(150_000)),
    {
      what: 'login, nested 50,000 levels, gzip',
      hostile: compressed(gzipped.hostile),
      plain: compressed(gzipped.plain),
    },
    text('login, 90,000 unknown fields', LOGIN, undefined, login, `{${fields}}`),
    text('login, all that the bounds let in', LOGIN, undefined, login, `[${times(1_900, () => nested(60)).join()}]`),
    text('login, 65 objects of 990 keys', LOGIN, undefined, login, `[${times(65, () => keys(990)).join()}]`),
    text('login, 6 objects of 990 keys', LOGIN, undefined, login, `[${times(6, () => keys(990)).join()}]`),
    text(
      'register, nested',
      '/api/v1/devices/register',
      undefined,
      (name) => `{"token":"mesh-join-x","name":${name}}`,
      nested(150_000),
    ),
    text(
      'heartbeat, nested',
      '/api/v1/devices/self/heartbeat',
      admin,
      (paths) => `{"paths":${paths}}`,
      nested(150_000),
    ),
    text('apply, nested', '/api/v1/apply', admin, (documents) => `{"documents":${documents}}`, nested(150_000)),
    text('a policy, `status` nested', '/api/v1/policies', admin, statusOf, nested(150_000)),
    mcp(text('MCP, nested', '/mcp', admin, (args) => call('list_peers', args), nested(150_000))),
    value('a policy, 60,000 unknown names', '/api/v1/policies', admin, policy(specOf(unknown)), policy(specOf(known))),
    value('apply, 60,000 unknown names', '/api/v1/apply', admin, documents(specOf(unknown)), documents(specOf(known))),
    value('apply, 2,000 documents of unknown names', '/api/v1/apply', admin, many(unknown), many(known)),
    value('reach, 25,000 unknown names', '/api/v1/agents', admin, reach(unknown), reach(known)),
    value('egress, 20,000 unknown names', '/api/v1/agents/self/delegate', agent, egress(unknown), egress(known)),
    value('a policy, 440,000 wrong entries', '/api/v1/policies', admin, entries(440_000, 1), entries(4_000, ENTRY)),
    value('a policy, 110,000 wrong ports', '/api/v1/policies', admin, ports(1_000, 110, 1), ports(1_000, 30, PORT)),
  ];
}

const META = JSON.stringify({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '0' },
  'io.modelcontextprotocol/clientCapabilities': {},
});
const MCP_HEADERS = {
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'list_peers',
};

const statusOf = (status: string) =>
  `{"name":"hostile","spec":{"action":"DENY","peerSelector":{"peers":[]},"network":"absent"},"status":${status}}`;
const NAMES_OF_RULE = 250;
const listed = (from: number, count: number, nameAt: (at: number) => string) => ({
  peerSelector: { peers: times(count, (at) => nameAt(from + at)) },
});
const rules = (count: number, end: 'from' | 'to', nameAt: (at: number) => string) =>
  times(count, (rule) => ({ [end]: [listed(rule * NAMES_OF_RULE, NAMES_OF_RULE, nameAt)] }));
/** With a name at its end that nobody has, so that the plain one is not written either. */
const specOf = (nameAt: (at: number) => string) => ({
  action: 'ALLOW',
  peerSelector: {},
  ingress: [...rules(240, 'from', nameAt), { from: [{ peerSelector: { peers: ['absent'] } }] }],
});
const policy = (spec: object) => ({ name: 'hostile', spec });
const documentOf = (name: string, spec: object) => ({
  apiVersion: 'mesh.internal/v1alpha1',
  kind: 'MeshPolicy',
  metadata: { name },
  spec,
});
const documents = (spec: object) => ({ documents: [documentOf('hostile', spec)] });
const many = (nameAt: (at: number) => string) => ({
  documents: times(2_000, (at) =>
    documentOf(`hostile-${at}`, { action: 'ALLOW', ...listed(at * 20, 20, at === 1_999 ? absent : nameAt) }),
  ),
});
const reach = (nameAt: (at: number) => string) => ({
  name: 'hostile',
  reach: [...rules(99, 'to', nameAt), { to: [{ peerSelector: { peers: ['absent'] } }] }],
});
const egress = (nameAt: (at: number) => string) => ({
  subAgentName: 'hostile',
  ttl: '1h',
  policyPreset: 'sandboxed',
  egress: [...rules(80, 'to', nameAt), { to: [{ peerSelector: { peers: ['absent'] } }] }],
});
const ENTRY = { peerSelector: { matchLabels: { role: 'r1' } } };
const PORT = { protocol: 'TCP', port: 5_432 };
const entries = (count: number, entry: unknown) => ({
  name: 'hostile',
  spec: { action: 'ALLOW', network: 'absent', peerSelector: {}, ingress: [{ from: Array(count).fill(entry) }] },
});
const ports = (count: number, ofRule: number, port: unknown) => ({
  name: 'hostile',
  spec: {
    action: 'ALLOW',
    network: 'absent',
    peerSelector: {},
    ingress: Array(count).fill({ ports: Array(ofRule).fill(port) }),
  },
});
