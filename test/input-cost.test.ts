import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { parseJson } from '../core/base/json-text.ts';
import { isBoundedList } from '../core/base/list.ts';
import { operations } from '../tools/index.ts';
import { type Input, type Operation, sampleOf } from './kits/http/sample-requests.ts';
import { agent, buildKit, type CallAs, person } from './kits/plane/kit.ts';
import { countWork } from './kits/records/counted-work.ts';
import { seedPeers } from './kits/records/seed-peers.ts';
import { walkSchema } from './walk-schema.ts';

/** Twice the input costs twice the work, and some more for what grows in steps. */
const MOST_GROWTH = 2.2;
/** Entries, fields or faults of the smaller of two inputs; levels of its nesting; characters of its texts. */
const COUNT = 120;
const LEVELS = 30;
const CHARACTERS = 4_000;

const kit = await buildKit();
const workspace = await kit.workspace();
const as = person('platform_admin', workspace);
const counter = countWork();
afterAll(async () => {
  counter[Symbol.dispose]();
  await kit[Symbol.asyncDispose]();
});

/** Calls an operation with what a body of JSON holds. @returns `ok`, or the code that refuses it */
function send(name: string, input: Input, options: CallAs = { as }): Promise<string> {
  const raw = parseJson(JSON.stringify(input)) as Record<string, unknown>;
  return kit.call(name, raw, { workspace, face: 'mcp', ...options }).then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  );
}

/** Measures of one growth, at most. */
const ROUNDS = 3;

/**
 * How much more work the larger input is. The first call makes what is made once. Timers of the process only ever add to a
 * count, so the least of each counts where one measure is above the limit.
 */
async function growth(work: (size: number) => unknown, size: number): Promise<number> {
  await work(2);
  let [smaller, larger] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS && !(larger / smaller <= MOST_GROWTH); round += 1) {
    smaller = Math.min(smaller, await counter.of(() => work(size)));
    larger = Math.min(larger, await counter.of(() => work(size * 2)));
  }
  return larger / smaller;
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
const unknownFields = (count: number) => Object.fromEntries(times(count, (at) => [`unknown-${at}`, at]));
const everyField = ({ input }: Operation, value: unknown): Input =>
  Object.fromEntries(Object.keys(input.shape).map((name) => [name, value]));

test('work that grows with the square of its input is told from work that grows with it', async () => {
  const linear = (size: number) => times(size, (at) => at).filter((at) => at > 3);
  const square = (size: number) => times(size, (at) => linear(size).filter((one) => one > at));
  expect(await growth(linear, COUNT)).toBeLessThan(MOST_GROWTH);
  expect(await growth(square, COUNT)).toBeGreaterThan(MOST_GROWTH);
});

test.each<[string, number, (operation: Operation, size: number) => Input]>([
  ['fields nested twice as deep', LEVELS, (operation, size) => everyField(operation, nested(size))],
  ['texts twice as long', CHARACTERS, (operation, size) => everyField(operation, '\u202ea b-'.repeat(size / 5))],
  [
    'twice as many wrong entries in every field',
    COUNT,
    (operation, size) => everyField(operation, times(size, Number)),
  ],
  [
    'twice as many unknown fields, and as many in every field',
    COUNT,
    (operation, size) => ({ ...everyField(operation, unknownFields(size)), ...unknownFields(size) }),
  ],
])('%s cost any operation at most 2.2 times the work', async (_form, size, inputOf) => {
  const found: string[] = [];
  for (const operation of operations) {
    const factor = await growth((count) => send(operation.name, inputOf(operation, count)), size);
    if (factor > MOST_GROWTH) found.push(`${operation.name}: ${factor.toFixed(2)}`);
  }
  expect(found).toEqual([]);
});

const lists = new Map(
  operations.flatMap((operation) =>
    [...walkSchema(operation.input)].flatMap(({ pointer, schema }) =>
      isBoundedList(schema) ? [[schema, { operation, pointer }] as const] : [],
    ),
  ),
);

test.each<[string, (at: number) => unknown]>([
  ['empty objects', () => ({})],
  ['texts', (at) => `absent-${at}`],
  ['numbers', (at) => at],
])('twice as many entries of a list cost at most 2.2 times the work: %s', async (_what, entry) => {
  const found: string[] = [];
  for (const [schema, { operation, pointer }] of lists) {
    const { maxItems = 0 } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', metadata: z.registry() });
    const inputOf = (count: number) => ({ ...sampleOf(operation), ...planted(pointer, times(count, entry)) });
    const factor = await growth(
      (count) => send(operation.name, inputOf(count)),
      Math.min(COUNT, Math.floor(maxItems / 2)),
    );
    if (factor > MOST_GROWTH) found.push(`${operation.name}${pointer}: ${factor.toFixed(2)}`);
  }
  expect(found).toEqual([]);
});

/** Of a hostile input beside a plain one of the same size. */
const MOST_WORK = 5;
const PEERS = 300;
const NAMES_OF_RULE = 256;
const RULES = 6;

/** So many names in rules of one direction. */
const rulesOf = (end: 'from' | 'to', nameAt: (index: number) => string) =>
  times(RULES, (rule) => ({
    [end]: [{ peerSelector: { peers: times(NAMES_OF_RULE, (at) => nameAt(rule * NAMES_OF_RULE + at)) } }],
  }));
const specOf = (nameAt: (index: number) => string) => ({
  action: 'ALLOW',
  peerSelector: {},
  ingress: rulesOf('from', nameAt),
});
const documentOf = (name: string, spec: object) => ({
  apiVersion: 'mesh.internal/v1alpha1',
  kind: 'MeshPolicy',
  metadata: { name },
  spec,
});
const manyDocuments = (nameAt: (index: number) => string) =>
  times(NAMES_OF_RULE, (document) =>
    documentOf(`many-${document}`, {
      action: 'ALLOW',
      peerSelector: { peers: times(RULES, (at) => nameAt(document * RULES + at)) },
    }),
  );

test.each<[string, string, (nameAt: (index: number) => string) => Input]>([
  ['a policy', 'create_policy', (nameAt) => ({ name: 'many', spec: specOf(nameAt) })],
  ['one document', 'apply_resources', (nameAt) => ({ documents: [documentOf('many', specOf(nameAt))] })],
  ['many documents', 'apply_resources', (nameAt) => ({ documents: manyDocuments(nameAt) })],
  ['a preview of many', 'preview_resources', (nameAt) => ({ documents: manyDocuments(nameAt) })],
  ['the reach of an agent', 'create_agent', (nameAt) => ({ name: 'many', reach: rulesOf('to', nameAt) })],
  [
    'the egress of a sub-agent',
    'delegate_agent',
    (nameAt) => ({
      id: 'self',
      subAgentName: 'many',
      ttl: '1m',
      policyPreset: 'sandboxed',
      egress: rulesOf('to', nameAt),
    }),
  ],
])(
  'thousands of names that nobody has cost at most 5 times the work of one such name, in %s',
  async (_in, name, inputOf) => {
    const home = await kit.workspace();
    const peers = times(PEERS, (at) => [`peer-${at}`, {}] as const);
    await seedPeers(kit.services, home, Object.fromEntries(peers));
    const admin = person('admin', home);
    const { id, identity } = await kit.call('create_agent', { name: 'root' }, { as: admin });
    const caller = name === 'delegate_agent' ? agent(identity.scopes, home, { id, name: 'root' }) : admin;
    const ask = (input: Input) => send(name, input, { as: caller, workspace: home });
    const one = inputOf((at) => (at === 0 ? 'pear-0' : `peer-${at % PEERS}`));
    const all = inputOf((at) => `pear-${at}`);
    expect([await ask(one), await ask(all)]).toEqual(['invalid_input', 'invalid_input']);
    const plain = await counter.of(() => ask(one));
    expect(await counter.of(() => ask(all))).toBeLessThan(plain * MOST_WORK);
  },
);

const WEB = { peerSelector: { matchLabels: { role: 'web' } } };
const FEW = 6;
/** Rules that all say the same, so that they compress well. */
const sameRules = (end: 'from' | 'to', [rules, entries, ports]: readonly number[] = []) =>
  times(rules ?? FEW, () => ({
    [end]: times(entries ?? FEW, () => WEB),
    ports: times(ports ?? FEW, (at) => ({ port: 2 * at + 1 })),
  }));

/** How much is there before a call that is counted, and the form of its rules. */
interface Shape {
  readonly peers?: number;
  /** Sub-agents whose rules are like those of the call. */
  readonly agents?: number;
  readonly rules?: readonly number[];
}

/** The work of a root agent that delegates, and of a person who makes a policy, in a workspace of that shape. */
async function workIn(name: 'delegate_agent' | 'create_policy', { peers = 20, agents = 2, rules }: Shape) {
  const home = await kit.workspace();
  await seedPeers(kit.services, home, Object.fromEntries(times(peers, (at) => [`web-${at}`, { role: 'web' }])));
  const admin = person('admin', home);
  const reach = [{ to: [{ peerSelector: {} }] }];
  const { id, identity } = await kit.call('create_agent', { name: 'root', reach }, { as: admin, workspace: home });
  const root = { as: agent(identity.scopes, home, { id, name: 'root' }), workspace: home };
  const delegate = (subAgentName: string) =>
    send(
      'delegate_agent',
      { id: 'self', subAgentName, ttl: '1h', policyPreset: 'sandboxed', egress: sameRules('to', rules) },
      root,
    );
  for (let at = 0; at < agents; at += 1) expect(await delegate(`sub-${at}`)).toBe('ok');
  const spec = { action: 'ALLOW', peerSelector: {}, ingress: sameRules('from', rules) };
  return counter.of(async () => {
    const done =
      name === 'delegate_agent'
        ? delegate('new')
        : send('create_policy', { name: 'new', spec }, { as: admin, workspace: home });
    expect(await done).toBe('ok');
  });
}

test.each<[string, Shape, Shape]>([
  ['rules', { rules: [20, FEW, FEW] }, { rules: [40, FEW, FEW] }],
  ['entries of a rule', { rules: [FEW, 60, FEW] }, { rules: [FEW, 120, FEW] }],
  ['ports of a rule', { rules: [FEW, FEW, 60] }, { rules: [FEW, FEW, 120] }],
  ['peers', { peers: 60 }, { peers: 120 }],
  ['agents of the line', { agents: 15 }, { agents: 30 }],
])('twice as many %s cost a delegation and a policy at most 2.2 times the work', async (_what, one, two) => {
  for (const name of ['delegate_agent', 'create_policy'] as const) {
    await workIn(name, one);
    const plain = await workIn(name, one);
    expect((await workIn(name, two)) / plain, name).toBeLessThan(MOST_GROWTH);
  }
});

test('a delegation beside twenty of the largest sub-agents and 300 peers costs at most 5 times one in an empty network', async () => {
  const rules = [100, 10, 20];
  const alone = await workIn('delegate_agent', { peers: 1, agents: 1, rules });
  expect(await workIn('delegate_agent', { peers: PEERS, agents: 20, rules })).toBeLessThan(alone * MOST_WORK);
});

/** An input with one value at a place of a schema. */
function planted(pointer: string, value: unknown): Input {
  return pointer
    .split('/')
    .slice(1)
    .reduceRight<unknown>(
      (inner, step) => (step === '[]' ? [inner] : { [step === '{}' ? 'key' : step]: inner }),
      value,
    ) as Input;
}
