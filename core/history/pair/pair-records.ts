import { getOrInsertComputed } from '../../base/get-or-insert.ts';
import { memoize } from '../../base/memoize.ts';
import type { Change, RecordVersion } from '../../base/ports.ts';
import { foldName, type StoredRecord } from '../../base/record.ts';
import { parseInstant } from '../../base/time.ts';
import { selectorSchema } from '../../model/policy.ts';
import type { PeerRecord, PolicyRecord } from '../../model/resources.ts';
import { type Selectable, selects } from '../../model/selector.ts';
import { agentOf } from '../../state/network-model.ts';
import type { NetworkServices } from '../../state/services.ts';
import { type NetworkState, type StateKind, stateOf } from '../../state/state.ts';
import { type Identity, namesOfIdentity } from './identity.ts';
import type { Range } from './range.ts';

/** A revision that may have changed a connection, with those of its changes that may have. */
export interface PairStep {
  readonly revision: number;
  readonly at: number;
  readonly changes: readonly Change[];
}

/** All that can decide a connection in a range: what there was at its beginning, and what came after. */
export interface PairRecords {
  readonly start: NetworkState;
  readonly steps: readonly PairStep[];
  /** Instants in the range, ascending, at which the time of a record is over. */
  readonly ends: readonly number[];
  /** How many versions of records were read for it. */
  readonly versions: number;
}

/** The records of some names over a range: each as it was at the beginning, and what was written to it since. */
interface RecordTrail {
  readonly base: readonly StoredRecord[];
  readonly versions: readonly RecordVersion[];
}

/**
 * Reads what can affect a connection, by the index of each kind and name: the two peers, the agents above them with their
 * peers, the policies that select one of those, the networks, and the presence of both ends. A history of 50,000 commits in
 * which three of 200 policies ever selected the two costs those three, and the list of the others.
 *
 * @param aliases the ends by other names that they had within the range
 */
export async function pairRecords(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  pair: Pair,
  range: RecordRange,
  aliases: readonly Identity[] = [],
): Promise<PairRecords> {
  return recordsOf(services, workspace, pair, range, readerOf(services, workspace, range), aliases);
}

type RecordRange = Pick<Range, 'first' | 'last' | 'since' | 'to'>;

interface Pair {
  readonly src: Identity;
  readonly dst: Identity;
}

/** As {@link pairRecords}, for several pairs of one range: what they share is read once. */
export function pairRecordsIn(services: Pick<NetworkServices, 'store'>, workspace: string, range: Range) {
  const read = readerOf(services, workspace, range);
  return (pair: Pair) => recordsOf(services, workspace, pair, range, read);
}

async function recordsOf(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  { src, dst }: Pair,
  range: RecordRange,
  read: Reader,
  aliases: readonly Identity[] = [],
): Promise<PairRecords> {
  const ends = [src, dst, ...aliases].filter(({ ranges }) => ranges === undefined);
  const names = (await Promise.all(ends.map((end) => namesOfIdentity(services, workspace, end, range)))).flat();
  const isEnd = ({ uid, name }: StoredRecord) =>
    ends.some((end) => uid === end.uid || foldName(name) === foldName(end.name));
  const own = (await Promise.all(names.map((name) => read.one('MeshPeer', name)))).flatMap((one) =>
    linesOf(one, isEnd),
  );
  const agents = await agentsAbove(
    read,
    recordsIn(own).filter((one) => one.kind === 'MeshPeer'),
  );
  const isAbove = (record: StoredRecord) => record.kind === 'MeshPeer' && agents.names.has(record.spec.agentRef ?? '');
  // Only the peers themselves show which of them an agent's peer was, so where there are agents all peers are read.
  const peers =
    agents.names.size === 0 ? own : linesOf(await read.all('MeshPeer'), (one) => isEnd(one) || isAbove(one));
  const subjects = distinctSubjects(recordsIn(peers).filter((one) => one.kind === 'MeshPeer'));
  const concerns = (record: StoredRecord) => record.kind === 'MeshPolicy' && selectsOneOf(record, subjects);
  const presence = await Promise.all(names.map((name) => read.one('Presence', name)));
  const all: Line[] = [
    ...peers,
    ...agents.lines,
    ...linesOf(await read.all('MeshNetwork'), () => true),
    ...linesOf(await read.all('MeshPolicy'), concerns),
    ...presence.flatMap((one) => linesOf(one, () => true)),
  ];
  const once = [...new Map(all.map((line) => [`${line.kind}/${line.name}`, line])).values()];
  return {
    start: stateOf(
      workspace,
      range.first,
      once.flatMap(({ base }) => base ?? []),
    ),
    steps: stepsOf(once),
    ends: endsOf(recordsIn(once), range),
    versions: await read.versions(),
  };
}

type Reader = ReturnType<typeof readerOf>;

function readerOf({ store }: Pick<NetworkServices, 'store'>, workspace: string, { first, last }: RecordRange) {
  const asOf = { revision: first };
  const span = { after: first, upTo: last };
  const known = new Map<string, Promise<RecordTrail>>();
  const readOnce = (key: string, read: () => Promise<RecordTrail>) => getOrInsertComputed(known, key, read);
  return {
    versions: async () => (await Promise.all(known.values())).reduce((sum, { versions }) => sum + versions.length, 0),
    all: (kind: StateKind): Promise<RecordTrail> =>
      readOnce(kind, async () => {
        const [{ items }, versions] = await Promise.all([
          store.list(workspace, kind, { asOf }),
          store.versions(workspace, kind, span),
        ]);
        return { base: items, versions };
      }),
    one: (kind: StateKind, name: string): Promise<RecordTrail> =>
      readOnce(`${kind}/${foldName(name)}`, async () => {
        const [base, versions] = await Promise.all([
          store.get(workspace, { kind, name }, asOf),
          store.versions(workspace, kind, { ...span, name }),
        ]);
        return { base: base ? [base] : [], versions };
      }),
  };
}

/** The versions of one name over the range. Versions that do not matter to the connection count as absent. */
interface Line {
  readonly kind: string;
  readonly name: string;
  readonly base: StoredRecord | undefined;
  readonly versions: readonly RecordVersion[];
}

function linesOf({ base, versions }: RecordTrail, concerns: (record: StoredRecord) => boolean): Line[] {
  const bases = new Map(base.map((record) => [record.name, record]));
  const byName = Map.groupBy(versions, ({ name }) => name);
  return [...new Set([...bases.keys(), ...byName.keys()])].flatMap((name): Line[] => {
    const own = byName.get(name) ?? [];
    const first = bases.get(name);
    const kept = first && concerns(first) ? first : undefined;
    const shown = own.map((version) =>
      version.record && !concerns(version.record) ? { name, revision: version.revision, at: version.at } : version,
    );
    const kind = (kept ?? shown.find(({ record }) => record)?.record)?.kind;
    return kind === undefined ? [] : [{ kind, name, base: kept, versions: shown }];
  });
}

function recordsIn(lines: readonly Line[]): StoredRecord[] {
  return lines.flatMap(({ base, versions }) => [base, ...versions.map(({ record }) => record)].filter((one) => !!one));
}

/** The agents that peers are or came with, and those above them. */
async function agentsAbove(read: Reader, peers: readonly PeerRecord[]) {
  const lines: Line[] = [];
  const names = new Set(peers.flatMap((peer) => agentOf(peer) ?? []));
  for (const name of names) {
    const own = linesOf(await read.one('AgentIdentity', name), () => true);
    lines.push(...own);
    for (const { spec } of recordsIn(own).filter((one) => one.kind === 'AgentIdentity'))
      if (spec.parentRef) names.add(spec.parentRef.name);
  }
  return { names, lines };
}

function distinctSubjects(peers: readonly PeerRecord[]): Selectable[] {
  return [...new Map(peers.map(({ uid, labels }) => [JSON.stringify([uid, labels]), { uid, labels }])).values()];
}

/** A policy decides about whom it selects, whether the rest of it can be read or not; with a selector that cannot be, about anyone. */
function selectsOneOf(policy: PolicyRecord, subjects: readonly Selectable[]): boolean {
  const { success, data } = readSelector(policy);
  return !success || subjects.some((subject) => selects(data, subject));
}

/** The selector alone: reading all rules of every version takes longer than all else of a long history. */
const readSelector = memoize(({ spec }: PolicyRecord) => selectorSchema.safeParse(spec.peerSelector ?? {}));

function stepsOf(lines: readonly Line[]): PairStep[] {
  const steps = new Map<number, { revision: number; at: number; changes: Change[] }>();
  for (const line of lines) {
    let before = line.base;
    for (const { revision, at, record } of line.versions) {
      const change = changeOf(before, record);
      before = record;
      if (!change) continue;
      const step = steps.get(revision) ?? { revision, at, changes: [] };
      steps.set(revision, step);
      step.changes.push(change);
    }
  }
  return [...steps.values()].sort((a, b) => a.revision - b.revision);
}

function changeOf(before: StoredRecord | undefined, record: StoredRecord | undefined): Change | undefined {
  if (record) return before ? { type: 'updated', record, before } : { type: 'created', record };
  return before && { type: 'deleted', record: before, before };
}

function endsOf(records: readonly StoredRecord[], { since, to }: RecordRange): number[] {
  const ends = new Set<number>();
  for (const { spec } of records) {
    const { expiresAt } = spec as { readonly expiresAt?: unknown };
    const at = typeof expiresAt === 'string' ? parseInstant(expiresAt) : Number.NaN;
    if (at > since && at <= to) ends.add(at);
  }
  return [...ends].sort((a, b) => a - b);
}
