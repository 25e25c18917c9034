import type { RecordVersion } from '../../base/ports.ts';
import { foldName } from '../../base/record.ts';
import { lookUp, lookUpById } from '../../model/find.ts';
import type { Ranges } from '../../model/ranges.ts';
import { normalizeName, type PeerRecord } from '../../model/resources.ts';
import { lookUpPeerOrHost, outsideOf, peerNotFound } from '../../state/find-peer.ts';
import type { NetworkServices } from '../../state/services.ts';
import type { NetworkState } from '../../state/state.ts';
import type { Range } from './range.ts';

type ReadServices = Pick<NetworkServices, 'store' | 'states'>;

/** A peer over time: it keeps its id with another name, and its name when it joins again. */
export interface Identity {
  readonly uid: string;
  readonly name: string;
  /** Addresses outside of all networks, in place of a peer. */
  readonly ranges?: Ranges;
}

/** Returns the name of a peer in a state; undefined where it does not exist. */
export function nameIn({ peers }: Pick<NetworkState, 'peers'>, { uid, name }: Identity): string | undefined {
  return (lookUpById(peers, uid) ?? lookUp(peers, name))?.name;
}

/**
 * The peer that a text means: by the names at the end of the range, then by the newest of the range, then by those at its
 * beginning.
 *
 * @throws MeshError `not_found` with the nearest names
 */
export async function identityOf(
  services: ReadServices,
  workspace: string,
  given: string,
  range: Pick<Range, 'first' | 'last'>,
): Promise<PeerRecord> {
  const found = await findIdentity(services, workspace, given, range);
  if (found) return found;
  const [last, first] = await statesOf(services, workspace, range);
  throw peerNotFound({ peers: new Map([...first.peers, ...last.peers]) }, given);
}

/**
 * Returns one end of a connection: a peer, or addresses outside.
 *
 * @throws MeshError as {@link identityOf} does
 */
export async function endOfPair(
  services: ReadServices,
  workspace: string,
  given: string,
  range: Pick<Range, 'first' | 'last'>,
): Promise<Identity> {
  const found = await findIdentity(services, workspace, given, range);
  if (found) return found;
  const [last, first] = await statesOf(services, workspace, range);
  const ranges = outsideOf(last, given);
  if (ranges) return { uid: given, name: given, ranges };
  throw peerNotFound({ peers: new Map([...first.peers, ...last.peers]) }, given);
}

/** As {@link identityOf}; undefined where nobody is meant. */
export async function findIdentity(
  services: ReadServices,
  workspace: string,
  given: string,
  { first, last }: Pick<Range, 'first' | 'last'>,
): Promise<PeerRecord | undefined> {
  const [end, begin] = await statesOf(services, workspace, { first, last });
  const now = lookUpPeerOrHost(end, given);
  if (now) return now;
  const span = { after: first, upTo: last };
  const named = await services.store.versions(workspace, 'MeshPeer', { ...span, name: normalizeName(given) });
  const versions = named.length > 0 || !given.startsWith('p_') ? named : await byUid(services, workspace, span, given);
  const newest = versions.findLast(({ record }) => record !== undefined)?.record;
  return newest ?? lookUpPeerOrHost(begin, given);
}

async function byUid({ store }: ReadServices, workspace: string, span: { after: number; upTo: number }, uid: string) {
  const all = await store.versions(workspace, 'MeshPeer', span);
  return all.filter(({ record }) => record?.uid === uid);
}

/** The states at the end and at the beginning of a range. */
export async function statesOf(
  { states }: Pick<ReadServices, 'states'>,
  workspace: string,
  { first, last }: Pick<Range, 'first' | 'last'>,
): Promise<[end: NetworkState, begin: NetworkState]> {
  const current = await states.current(workspace);
  const end = current.revision === last ? current : await states.asOf(workspace, { revision: last });
  return [end, await states.asOf(workspace, { revision: first })];
}

/**
 * Every name under which a peer, or who took its name, was there in a range. A new name is a deletion and a creation of
 * one id in one commit, so each end of a name's versions is followed into its commit.
 */
export async function namesOfIdentity(
  { store }: Pick<ReadServices, 'store'>,
  workspace: string,
  { uid, name }: Identity,
  { first, last }: Pick<Range, 'first' | 'last'>,
): Promise<string[]> {
  const names = new Map<string, string>();
  const queue = [name];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (names.has(foldName(next))) continue;
    names.set(foldName(next), next);
    const base = await store.get(workspace, { kind: 'MeshPeer', name: next }, { revision: first });
    const versions = await store.versions(workspace, 'MeshPeer', { after: first, upTo: last, name: next });
    for (const revision of edges(uid, base?.uid, versions)) {
      const [commit] = await store.commits(workspace, revision - 1, 1);
      for (const { record } of commit?.changes ?? []) {
        if (record.kind === 'MeshPeer' && record.uid === uid) queue.push(record.name);
      }
    }
  }
  return [...names.values()];
}

/** The revisions in which a name began or ceased to be that of an id. */
function edges(uid: string, base: string | undefined, versions: readonly RecordVersion[]): number[] {
  let before = base;
  return versions.flatMap(({ revision, record }) => {
    const isEdge = (before === uid) !== (record?.uid === uid);
    before = record?.uid;
    return isEdge ? [revision] : [];
  });
}
