import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { AnyOperation } from '../core/base/operation.ts';
import { SCOPES } from '../core/base/scope.ts';
import { FRAMEWORKS } from '../core/compliance/frameworks.ts';
import { PRESETS } from '../core/model/resources.ts';
import type { Draw } from './authority-draw.ts';

/** What exists in a scene, for inputs that mean something there. */
export interface Pools {
  /** Names of records by the noun that operations have in their names, such as `peer`. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  readonly labels: readonly Readonly<Record<string, string>>[];
  /** Labels that the control plane sets. */
  readonly ownLabels: readonly Readonly<Record<string, string>>[];
  readonly passwords: readonly string[];
  /** Join and delegate tokens. */
  readonly tokens: readonly string[];
  /** What the caller holds. */
  readonly scopes: readonly string[];
  readonly now: number;
  readonly revision: number;
}

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

const schemas = new WeakMap<object, Schema>();

function schemaOf({ input }: AnyOperation<never>): Schema {
  const known = schemas.get(input) ?? (z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema);
  schemas.set(input, known);
  return known;
}

/** An input of an operation as its schema describes it, of values that exist in the scene where the field has any. */
export function inputFor(operation: AnyOperation<never>, pools: Pools, draw: Draw): Record<string, unknown> {
  const often = draw.pick([0.1, 0.4, 0.8], String);
  const at: Place = { operation: operation.name, pools, draw, often };
  return objectFor(schemaOf(operation), at) as Record<string, unknown>;
}

interface Place {
  readonly operation: string;
  readonly pools: Pools;
  readonly draw: Draw;
  /** How often a field that may be left out is sent. */
  readonly often: number;
}

/** Fields that say the same as others in another form, or that only people's clients send. */
const SELDOM = new Set(
  'manifest apiVersion kind metadata status proof cursor history expectations revert externals dry_run revision'.split(
    ' ',
  ),
);
const MOSTLY = new Set('spec changes documents labels approved_by settings reach scopes ttl egress'.split(' '));
/** Fields that a plan takes in place of `changes`. */
const IN_PLACE_OF_CHANGES = new Set('orders hold documents set delete'.split(' '));
/** Beside a whole `spec` these may be sent. */
const BESIDE_SPEC = new Set('id name labels annotations ttl'.split(' '));

function objectFor({ properties = {}, required = [] }: Schema, at: Place): unknown {
  const isWhole = 'spec' in properties && at.draw.chance(0.95);
  const fields = Object.entries(properties).flatMap(([field, schema]) => {
    if (isWhole && !BESIDE_SPEC.has(field) && field !== 'spec') return [];
    const isSent = required.includes(field) || at.draw.chance(isWhole && field === 'spec' ? 1 : oftenFor(field, at));
    return isSent ? [[field, valueFor(field, schema, at)] as const] : [];
  });
  return Object.fromEntries(fields);
}

function oftenFor(field: string, { operation, often }: Place): number {
  if (SELDOM.has(field)) return 0.02;
  if (operation === 'plan_network_change' && IN_PLACE_OF_CHANGES.has(field)) return 0.02;
  // What is there keeps its name; what is made has one.
  if (field === 'name' && operation === 'update_peer') return 0.6;
  if (field === 'name' && operation.startsWith('update_')) return 0.05;
  if (field === 'name' && operation.startsWith('create_')) return 0.95;
  return MOSTLY.has(field) && !operation.startsWith('update_w') ? 0.85 : often;
}

function valueFor(field: string, schema: Schema, at: Place): unknown {
  const { draw } = at;
  const own = OBJECTS[field];
  if (own && schema.type !== 'string') return own(at);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return draw.pick(schema.enum);
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return valueFor(field, draw.pick(either), at);
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' ? instant(at) : (TEXTS[field]?.(at) ?? draw.pick(everyName(at)));
    case 'integer':
    case 'number':
      return numberFor(field, schema, at);
    case 'boolean':
      return draw.chance(0.3);
    case 'null':
      return null;
    case 'array': {
      const length = Math.max(schema.minItems ?? 0, field === 'documents' ? 1 : 0, draw.int(3));
      return Array.from({ length }, () => valueFor(field, schema.items ?? {}, at));
    }
    case 'object':
      return schema.properties ? objectFor(schema, at) : labelsFor(at);
    default:
      return field === 'documents' ? document(at) : labelsFor(at);
  }
}

function numberFor(field: string, { minimum = 1, maximum = 10 }: Schema, { draw, pools }: Place): number {
  if (field === 'port' || field === 'endPort') return draw.pick(PORTS, String);
  if (field === 'revision') return 1 + draw.int(Math.max(1, pools.revision));
  if (field === 'maxNodeCount') return 250;
  return minimum + draw.int(Math.min(6, maximum - minimum + 1));
}

const PORTS = [22, 80, 5432];
const DURATIONS = ['', '1s', '30s', '10m', '1h', '2h', '6h', '24h', '168h'];

/** Texts by their field. */
const TEXTS: Readonly<Record<string, (at: Place) => string>> = {
  id: ({ operation, pools, draw }) => {
    if (operation === 'delegate_agent' && draw.chance(0.9)) return 'self';
    return draw.pick(namesFor(operation, pools));
  },
  name: (at) => nameFor(at),
  subAgentName: (at) => `sub-${at.draw.int(40)}`,
  username: ({ draw, pools }) => draw.pick([...(pools.names['user'] ?? []), `user-${draw.int(6)}`]),
  password: ({ draw, pools }) => draw.pick(pools.passwords),
  oldPassword: ({ draw, pools }) => draw.pick(pools.passwords),
  newPassword: ({ draw, pools }) => draw.pick(pools.passwords),
  token: ({ draw, pools }) => draw.pick([...pools.tokens, 'mesh-join-none']),
  publicKey: ({ draw }) => keyOf(draw.int(2 ** 30)),
  slug: ({ draw }) => `space-${draw.int(5)}`,
  namespace: ({ draw }) => `space-${draw.int(5)}`,
  network: ({ draw, pools }) => draw.pick(orNone(pools.names['network'])),
  cidr: ({ draw }) => draw.pick(['10.96.0.0/28', '10.96.0.0/16', '10.98.0.0/24', '203.0.113.0/24']),
  ttl: ({ draw }) => draw.pick(DURATIONS),
  expiry: ({ draw }) => draw.pick(DURATIONS),
  plan_id: ({ draw, pools }) => draw.pick(orNone(pools.names['plan'])),
  approved_by: ({ draw, pools }) => draw.pick(orNone(pools.names['user'])),
  snapshot_id: ({ draw, pools }) => draw.pick(orNone(pools.names['snapshot'])),
  workflow_id: ({ draw, pools }) => draw.pick(orNone(pools.names['workflow'])),
  from: ({ draw, pools }) => draw.pick(orNone(pools.names['snapshot'])),
  to: ({ draw, pools }) => draw.pick(orNone(pools.names['snapshot'])),
  earlier: ({ draw, pools }) => draw.pick(orNone(pools.names['assessment'])),
  later: ({ draw, pools }) => draw.pick(orNone(pools.names['assessment'])),
  framework: ({ draw }) => draw.pick(FRAMEWORKS),
  cde: () => 'role=db',
  ephi: () => 'role=db',
  sources: () => '203.0.113.0/24',
  src: ({ draw, pools }) => draw.pick([...(pools.names['peer'] ?? []), 'role=web']),
  dst: ({ draw, pools }) => draw.pick([...(pools.names['peer'] ?? []), 'role=db']),
  intent: ({ draw, pools }) => {
    const [from, to] = [draw.pick(orNone(pools.names['peer'])), draw.pick(orNone(pools.names['peer']))];
    return `let ${from} reach ${to} on port ${draw.pick(PORTS, String)}`;
  },
  revert: ({ draw, pools }) => draw.pick([...(pools.names['workflow'] ?? []), 'last']),
  address: ({ draw }) => `10.96.1.${1 + draw.int(200)}`,
  range: () => '203.0.113.0/24',
  timeZone: () => 'UTC',
  url: () => 'https://hooks.example.com/mesh',
  events: () => 'workflow.*',
  deviceLabels: ({ draw }) => draw.pick(['role', 'role=db', 'role=ops', 'tier', 'tier=1']),
  hostname: () => 'host',
  manifest: (at) => JSON.stringify(document(at)),
  documents: (at) => JSON.stringify(document(at)),
};

/** Fields whose meaning the schema alone does not tell. */
const OBJECTS: Readonly<Record<string, (at: Place) => unknown>> = {
  labels: labelsFor,
  annotations: () => ({ note: 'as asked' }),
  peerSelector: selectorFor,
  spec: (at) => (at.operation.includes('network') && !at.operation.includes('change') ? networkSpec(at) : specFor(at)),
  changes: (at) => Array.from({ length: 1 + at.draw.int(2) }, () => changeFor(at)),
  egress: rulesFor('to'),
  ingress: rulesFor('from'),
  reach: rulesFor('to'),
  scopes: scopesFor,
};

function labelsFor({ draw, pools }: Place): Readonly<Record<string, string>> {
  return draw.pick(pools.labels);
}

function selectorFor({ draw, pools }: Place): unknown {
  const all = [...pools.labels, ...pools.ownLabels].map((matchLabels) => ({ matchLabels }));
  const key = 'role';
  const listed = () => {
    const names = pools.names['peer'] ?? [];
    return names.length === 0 ? [] : Array.from({ length: draw.int(3) }, () => draw.pick(names));
  };
  if (draw.chance(0.2)) return { peers: listed(), ...(draw.chance(0.3) && draw.pick(all)) };
  if (draw.chance(0.1)) return { notPeers: listed() };
  return draw.pick<unknown>([
    {},
    ...all,
    { matchExpressions: [{ key, operator: 'DoesNotExist' }] },
    { matchExpressions: [{ key, operator: 'NotIn', values: ['web'] }] },
    { matchExpressions: [{ key, operator: 'In', values: ['db', 'ops'] }] },
  ]);
}

function rulesFor(side: 'to' | 'from') {
  return (at: Place): unknown[] => {
    const { draw } = at;
    const entry = () =>
      draw.chance(0.75)
        ? { peerSelector: selectorFor(at) }
        : draw.pick<unknown>(['*', { ipBlock: { cidr: '10.96.0.0/29' } }, { ipBlock: { cidr: '203.0.113.0/24' } }]);
    const rule = () => ({
      ...(draw.chance(0.85) && { [side]: [entry()] }),
      ...(draw.chance(0.7) && {
        ports: [
          draw.pick<unknown>([
            ...PORTS.map((port) => ({ protocol: 'TCP', port })),
            { protocol: 'UDP' },
            { port: 1, endPort: 6000 },
          ]),
        ],
      }),
    });
    return Array.from({ length: draw.pick([1, 1, 1, 2, 0], (count) => `${count}${draw.int(9)}`) }, rule);
  };
}

function policySpec(at: Place): Record<string, unknown> {
  const { draw } = at;
  const side = draw.int(4);
  return {
    action: draw.pick(['ALLOW', 'ALLOW ', 'DENY']).trim(),
    peerSelector: selectorFor(at),
    ...(side < 2 && { ingress: rulesFor('from')(at) }),
    ...(side > 0 && side < 3 && { egress: rulesFor('to')(at) }),
    ...(draw.chance(0.1) && { expiresAt: new Date(at.pools.now + 600_000).toISOString() }),
    ...(draw.chance(0.1) && { network: draw.pick(orNone(at.pools.names['network'])) }),
  };
}

function networkSpec({ draw }: Place): Record<string, unknown> {
  return {
    cidr: draw.pick(['10.96.0.0/12', '10.112.0.0/24', '10.113.0.0/24', '10.114.0.0/24']),
    defaultAction: draw.pick(['ALLOW', 'DENY']),
  };
}

function specFor(at: Place): unknown {
  const { draw, pools, operation } = at;
  if (!operation.includes('assertion')) return policySpec(at);
  const [src, dst] = [draw.pick(orNone(pools.names['peer'])), draw.pick(orNone(pools.names['peer']))];
  return { src, dst, protocol: 'TCP', port: draw.pick(PORTS, String), expect: draw.pick(['reachable', 'unreachable']) };
}

/** Some of what the caller holds, or anything. */
function scopesFor({ draw, pools }: Place): string[] {
  const [every, likely] = [draw.chance(0.1), draw.pick([0.5, 0.9], String)];
  return (every ? SCOPES : pools.scopes).filter((scope) => {
    if (NOT_PASSED_ON.has(scope)) return draw.chance(0.04);
    return draw.chance(likely);
  });
}

/** An input with one of these is mostly refused as a whole. */
const NOT_PASSED_ON = new Set(
  'tokens:write peers:approve intents:override members:write workflows:approve users:write workspaces:write'.split(' '),
);

function changeFor(at: Place): unknown {
  const { draw, pools } = at;
  const resource = draw.pick(['MeshPolicy', 'MeshPeer', 'MeshNetwork']);
  const action = draw.pick(resource === 'MeshPeer' ? ['update'] : ['create', 'update', 'delete']);
  const noun = { MeshPolicy: 'policy', MeshPeer: 'peer', MeshNetwork: 'network' }[resource] ?? '';
  const name = action === 'create' ? `${noun}-${draw.int(20)}` : draw.pick([...(pools.names[noun] ?? []), 'none']);
  if (action === 'delete') return { action, resource, name };
  return { action, resource, name, spec: resourceSpec(resource, at) };
}

function resourceSpec(resource: string, at: Place): unknown {
  if (resource === 'MeshPolicy') return policySpec(at);
  if (resource === 'MeshNetwork') return networkSpec(at);
  const network = at.draw.pick(orNone(at.pools.names['network']));
  return { labels: labelsFor(at), ...(at.draw.chance(0.2) && { network }) };
}

function document(at: Place): unknown {
  const { draw, pools } = at;
  const kind = draw.pick(['MeshPolicy', 'MeshPeer', 'MeshNetwork', 'AgentIdentity']);
  if (kind === 'AgentIdentity') return agentDocument(at);
  const noun = { MeshPolicy: 'policy', MeshPeer: 'peer', MeshNetwork: 'network' }[kind] ?? '';
  const known = pools.names[noun] ?? [];
  const name = kind === 'MeshPeer' ? draw.pick(orNone(known)) : draw.pick([...known, `${noun}-${draw.int(20)}`]);
  const head = { apiVersion: 'mesh.internal/v1alpha1', kind };
  if (kind === 'MeshPeer') return { ...head, metadata: { name, labels: labelsFor(at) } };
  return { ...head, metadata: { name }, spec: resourceSpec(kind, at) };
}

/** A sub-agent of whoever there is more often than a root agent. */
function agentDocument(at: Place): unknown {
  const { draw, pools } = at;
  const parent = draw.pick(orNone(pools.names['agent']));
  const spec = {
    ttl: draw.pick(DURATIONS),
    policyPreset: draw.pick(PRESETS),
    scopes: SCOPES.filter(() => draw.chance(0.2)),
    ...(draw.chance(0.8) && { parentRef: { name: parent } }),
  };
  return {
    apiVersion: 'mesh.internal/v1alpha1',
    kind: 'AgentIdentity',
    metadata: { name: `sub-${draw.int(40)}` },
    spec,
  };
}

/** A new name as often as one that is taken. */
function nameFor({ operation, pools, draw }: Place): string {
  const noun = nounOf(operation, pools) ?? 'thing';
  const makes =
    /^(create|register|generate|rename)/.test(operation) || (operation === 'update_peer' && draw.chance(0.8));
  return makes || draw.chance(0.3) ? `${noun}-${draw.int(20)}` : draw.pick(namesFor(operation, pools));
}

function nounOf(operation: string, pools: Pools): string | undefined {
  return Object.keys(pools.names).find((noun) => operation.includes(noun));
}

function namesFor(operation: string, pools: Pools): readonly string[] {
  const noun = nounOf(operation, pools);
  const known = noun === undefined ? Object.values(pools.names).flat() : (pools.names[noun] ?? []);
  return orNone(known);
}

function orNone(names: readonly string[] = []): readonly string[] {
  return names.length > 0 ? names : ['none'];
}

function everyName({ operation, pools }: Place): readonly string[] {
  return namesFor(operation, pools);
}

function instant({ draw, pools }: Place): string {
  return new Date(pools.now - draw.int(2) * 60_000 * draw.int(100) + draw.int(2) * 3_600_000).toISOString();
}

/** A public key of nobody: any 32 bytes are one. */
function keyOf(number: number): string {
  const bytes = createHash('sha256').update(`${number}`).digest();
  bytes[31] = (bytes[31] ?? 0) & 0x7f;
  return bytes.toString('base64');
}
