import fc from 'fast-check';
import type { Commit, Op } from '../../../core/base/ports.ts';
import { draftOf, type RecordDraft } from '../../../core/base/record.ts';
import { formatInstant } from '../../../core/base/time.ts';
import { containsRange, parseAddress, parseCidr } from '../../../core/model/cidr.ts';
import {
  type PeerEntry,
  type PolicySpec,
  type PortEntry,
  policySpecSchema,
  type Selector,
} from '../../../core/model/policy.ts';
import { addressText, type Ranges, rangesOfTerm } from '../../../core/model/ranges.ts';
import { agent, network, peer, policy, presence } from '../records/records.ts';
import { buildKit } from './kit.ts';

/** Histories of a small network in which everything that decides a connection changes, written straight to the store. */

type IpBlock = NonNullable<Exclude<PeerEntry, '*'>['ipBlock']>;

const NAMES = ['web-1', 'db-1', 'db-2', 'bot-1'];
const AGENTS = ['root', 'child'];
const ROLES = ['web', 'db', 'bot'];

const name = fc.constantFrom(...NAMES);
const role = fc.constantFrom(...ROLES);
const own = fc.oneof(
  role.map((value) => ({ matchLabels: { role: value } })),
  fc.constant({}),
  fc.constantFrom('p_0', 'p_1').map((uid) => ({ peers: [uid] })),
);
const address = fc.constantFrom('10.96.0.1/32', '10.96.0.4/30').map((cidr) => ({ cidr }));
/** Whoever has not a label, or another value of it. */
const negative = fc.oneof(
  role.map((value) => ({ matchExpressions: [{ key: 'role', operator: 'NotIn' as const, values: [value] }] })),
  fc.constantFrom('role', 'env').map((key) => ({ matchExpressions: [{ key, operator: 'DoesNotExist' as const }] })),
);
const NETWORK = '10.96.0.0/24';
const OUTSIDE_BLOCKS = ['203.0.113.0/24', '2000::/4', '20.0.0.0/9', '22.0.0.0/9', '24.0.0.0/9'];
const HOLE = '203.0.113.7/32';
/** The network, addresses outside of it, and all but one of IPv4. */
const outside = fc.oneof(
  fc.constantFrom(NETWORK, ...OUTSIDE_BLOCKS).map((cidr) => ({ cidr })),
  fc.constant({ cidr: '0.0.0.0/0', except: [HOLE] as string[] }),
);

/** Addresses outside of the network: what lies on both sides of each edge that policies of the histories can have. */
export const OUTSIDE_ADDRESSES: readonly { readonly name: string; readonly range: string }[] = [
  ...new Set([
    ...['198.51.100.7', 'fd00::1', '0.0.0.0', '255.255.255.255', '::'],
    ...[NETWORK, ...OUTSIDE_BLOCKS, HOLE].flatMap((block) => edgesOf(block)),
  ]),
].map((range) => ({ name: `at ${range}`, range }));

function edgesOf(block: string): string[] {
  const range = parseCidr(block);
  if (!range) throw new Error(`${block} is no CIDR.`);
  const { family, from, to } = range;
  const around = [from - 1n, to + 1n];
  return (block === NETWORK ? around : [...around, from, to]).map((address) => addressText(family, address));
}

/** Those of {@link OUTSIDE_ADDRESSES} that a term of an answer means, by their names; undefined for a name of a peer. */
export function outsideAddressesIn(term: string): string[] | undefined {
  const ranges = rangesOfTerm(term);
  return ranges && OUTSIDE_ADDRESSES.flatMap(({ name, range }) => (isIn(range, ranges) ? [name] : []));
}

function isIn(address: string, ranges: Ranges): boolean {
  const one = parseAddress(address);
  return one !== undefined && ranges.some((range) => containsRange(range, one));
}
const ports: fc.Arbitrary<PortEntry[] | undefined> = fc.constantFrom(
  undefined,
  [{ port: 443 }],
  [{ port: 5432 }, { protocol: 'UDP' }],
);

function specFrom(selector: fc.Arbitrary<Selector>, block: fc.Arbitrary<IpBlock>): fc.Arbitrary<PolicySpec> {
  const entry = fc.oneof(
    selector.map((peerSelector) => ({ peerSelector })),
    block.map((ipBlock) => ({ ipBlock })),
  );
  const rule = <Key extends 'from' | 'to'>(key: Key) =>
    fc.record({ entries: fc.array(entry, { maxLength: 2 }), ports }).map(({ entries, ports: some }) => ({
      [key]: entries,
      ...(some && { ports: some }),
    }));
  return fc
    .record(
      {
        action: fc.constantFrom('ALLOW' as const, 'DENY' as const),
        peerSelector: selector,
        ingress: fc.array(rule('from'), { maxLength: 2 }),
        egress: fc.array(rule('to'), { maxLength: 1 }),
      },
      { requiredKeys: ['action', 'peerSelector'] },
    )
    .map((one) => policySpecSchema.parse(one));
}

/** Until the end of what is written, in seconds; none = for ever. */
const ttl = fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined });

const writeWith = (spec: fc.Arbitrary<PolicySpec>) =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('policy' as const), name: fc.constantFrom('p1', 'p2', 'p3'), spec, ttl }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('label' as const), name, role }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), name: fc.constantFrom('p1', 'p2', 'p3') }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('phase' as const),
        name,
        phase: fc.constantFrom('ready' as const, 'pending' as const, 'revoked' as const),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('rename' as const), name, to: fc.constantFrom(...NAMES, 'other') }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), name }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('join' as const),
        name,
        role,
        ttl,
        by: fc.constantFrom(undefined, ...AGENTS),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('network' as const),
        action: fc.constantFrom('ALLOW' as const, 'DENY' as const),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('move' as const), name, to: fc.constantFrom('default', 'lab') }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('address' as const), name, last: fc.integer({ min: 1, max: 9 }) }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('presence' as const), name, online: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('agent' as const), name: fc.constantFrom(...AGENTS), ttl }) },
  );
type Write = ReturnType<typeof writeWith> extends fc.Arbitrary<infer W> ? W : never;

/** Batches of writes, each some seconds after the one before; those of one batch are one commit. */
const historyWith = (spec: fc.Arbitrary<PolicySpec>) =>
  fc.array(
    fc.record({
      wait: fc.integer({ min: 0, max: 3 }),
      writes: fc.array(writeWith(spec), { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 4, maxLength: 16 },
  );

/** Policies name peers by what they are and by what they are not, and addresses of the network and outside. */
export const randomHistory = historyWith(specFrom(fc.oneof(own, negative), fc.oneof(address, outside)));
type RandomHistory = typeof randomHistory extends fc.Arbitrary<infer H> ? H : never;

/** Plays a history. The clock ends behind every instant at which something ends. */
export async function playHistory(history: RandomHistory) {
  const kit = await buildKit();
  const workspace = await kit.workspace('prod');
  const { store, states } = kit.services;
  const began = kit.clock.time;
  let ids = 0;
  const commits: Commit[] = [];
  const first = NAMES.slice(0, 3).map((each, index) => ({
    do: 'join' as const,
    name: each,
    role: ROLES[index % 2] ?? 'web',
    ttl: undefined,
    by: undefined,
  }));
  const there = first.map(({ name: each }) => ({ do: 'presence' as const, name: each, online: true }));
  for (const { wait, writes } of [{ wait: 1, writes: first }, { wait: 0, writes: there }, ...history]) {
    kit.clock.time += wait * 1_000;
    const written = new Set<string>();
    const ops: Op[] = [];
    for (const each of writes as readonly Write[]) {
      const state = await states.current(workspace);
      const own = opsOf(state, each, kit.clock.time, () => `${ids++}`);
      const keys = own.map((op) => (op.op === 'create' || op.op === 'update' ? op.record : op.key));
      const folded = keys.map(({ kind, name: key }) => `${kind}/${key}`);
      if (folded.some((key) => written.has(key))) continue;
      for (const key of folded) written.add(key);
      ops.push(...own);
    }
    if (ops.length === 0) continue;
    const taken = ops.flatMap((op) => (op.op === 'create' || op.op === 'update' ? op.record.unique : []));
    if (new Set(taken).size < taken.length) continue;
    try {
      commits.push(await store.commit(workspace, ops, { actor: 'user:ada', reason: 'step', requestId: 'r' }));
    } catch {
      // An address that another peer has: as if it had not been tried.
    }
  }
  kit.clock.time += 10_000;
  return { kit, workspace, began, end: kit.clock.time, commits };
}

type State = Awaited<ReturnType<Awaited<ReturnType<typeof buildKit>>['services']['states']['current']>>;

function opsOf(state: State, each: Write, now: number, id: () => string): Op[] {
  const put = (present: { revision: number } | undefined, record: RecordDraft): Op =>
    present ? { op: 'update', record, revision: present.revision } : { op: 'create', record };
  const until = (seconds: number | undefined) =>
    seconds === undefined ? {} : { expiresAt: formatInstant(now + seconds * 1_000) };
  if (each.do === 'policy') {
    const present = state.policies.get(each.name);
    const record = policy(each.name, { ...each.spec, ...until(each.ttl) }, { uid: present?.uid ?? `pol_${id()}` });
    return [put(present, draftOf(record))];
  }
  if (each.do === 'drop')
    return state.policies.has(each.name) ? [{ op: 'delete', key: { kind: 'MeshPolicy', name: each.name } }] : [];
  if (each.do === 'network') {
    const present = state.networks.get('default');
    return [
      put(
        present,
        draftOf(network('default', { ...present?.spec, uid: present?.uid ?? 'net_x', defaultAction: each.action })),
      ),
    ];
  }
  if (each.do === 'agent') {
    const present = state.agents.get(each.name);
    const parent =
      each.name === 'child'
        ? { parentRef: { name: 'root', namespace: 'prod' } }
        : { reach: [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }] };
    const record = agent(each.name, { ...parent, ...until(each.ttl ?? 1_000) });
    return [put(present, { ...draftOf(record), uid: present?.uid ?? `agt_${id()}` })];
  }
  const present = state.peers.get(each.name);
  if (each.do === 'join') {
    if (present) return [];
    const last = NAMES.indexOf(each.name) + 1;
    const bound = each.by === undefined ? {} : each.by === 'child' ? { agentRef: each.by } : { delegatedBy: each.by };
    const record = peer(each.name, {
      uid: `p_${id()}`,
      labels: { role: each.role },
      address: `10.96.0.${last}`,
      ...until(each.ttl),
      ...bound,
    });
    return [{ op: 'create', record: draftOf(record) }];
  }
  if (each.do === 'presence') {
    const record = state.presence.get(each.name);
    return present || record
      ? [put(record, { ...draftOf(presence(each.name, each.online)), uid: record?.uid ?? `r_${id()}` })]
      : [];
  }
  if (!present) return [];
  const { spec: own, status } = present;
  switch (each.do) {
    case 'label':
      return [put(present, { ...draftOf(present), labels: { role: each.role } })];
    case 'phase':
      return [put(present, { ...draftOf(present), status: { ...status, phase: each.phase } })];
    case 'move':
      return [put(present, { ...draftOf(present), spec: { ...own, network: each.to } })];
    case 'address': {
      const address = `10.96.0.${each.last}`;
      return [put(present, { ...draftOf(present), status: { ...status, address }, unique: [`ip:${address}`] })];
    }
    case 'remove':
      return [{ op: 'delete', key: { kind: 'MeshPeer', name: each.name } }];
    case 'rename':
      return state.peers.has(each.to)
        ? []
        : [
            { op: 'delete', key: { kind: 'MeshPeer', name: each.name } },
            { op: 'create', record: { ...draftOf(present), name: each.to } },
          ];
    default:
      return each satisfies never;
  }
}
