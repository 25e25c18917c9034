import { MeshError } from '../base/errors.ts';
import { formatInstant } from '../base/time.ts';
import { RENAMES_SHOWN_MS } from '../model/renames.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { PeerCall } from '../state/services.ts';

/** Another key that bore a name, of the same device or of another. */
interface FormerHolder {
  readonly id: string;
  readonly publicKey: string;
  /** Until when, as an instant. */
  readonly until: string;
}

/** Former bearers named in one refusal. */
const MAX_LISTED = 5;

/**
 * Refuses to let in by its bare name a device whose name another key bore in the last 30 days, as far as history is kept:
 * whoever read the name then may mean that device. An id, or the revision that the caller read, says which one is meant.
 *
 * @param given id, name or address as the caller sent it
 * @throws MeshError `conflict` with the keys and ids
 */
export async function requireOneHolder(
  { services, workspace, expected }: Pick<PeerCall, 'services' | 'workspace' | 'expected'>,
  peer: PeerRecord,
  given: string,
): Promise<void> {
  if (given === peer.uid || expected !== undefined) return;
  const former = await formerHolders(services, workspace, peer);
  const [newest] = former;
  if (!newest) return;
  const { uid: id, name, revision, spec } = peer;
  const bearer = { id, publicKey: spec.publicKey, revision };
  throw new MeshError(
    'conflict',
    `Cannot tell which device you mean: ${name} was ${newest.id} with the key ${newest.publicKey} until ${newest.until}, and ` +
      `it is ${id} with the key ${spec.publicKey} now. Check the key, then send this id in place of the name, or revision ${revision} with it.`,
    { bearer, former },
  );
}

/** Returns the other keys that bore the name of a peer, newest first; its own before a rotation too. */
async function formerHolders(
  { store, clock }: Pick<PeerCall['services'], 'store' | 'clock'>,
  workspace: string,
  { name, spec }: PeerRecord,
): Promise<FormerHolder[]> {
  const versions = await store.history(workspace, { kind: 'MeshPeer', name });
  const since = clock.now() - RENAMES_SHOWN_MS;
  const former = new Map<string, FormerHolder>();
  for (const [index, { record }] of versions.entries()) {
    const until = versions[index + 1]?.at;
    if (!record || record.spec.publicKey === spec.publicKey) continue;
    if (until === undefined || until <= since) continue;
    const { publicKey } = record.spec;
    former.delete(publicKey);
    former.set(publicKey, { id: record.uid, publicKey, until: formatInstant(until) });
  }
  return [...former.values()].reverse().slice(0, MAX_LISTED);
}
