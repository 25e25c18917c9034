import { foldName } from '../base/record.ts';
import { statesOf } from '../history/pair/identity.ts';
import type { PeerOverRange } from '../history/pair/question-reader.ts';
import type { Range } from '../history/pair/range.ts';
import type { ComputeServices } from '../intent/plan/services.ts';
import type { PeerRecord } from '../model/resources.ts';
import { sameValue } from '../model/value.ts';

/** Everyone who was there at any time of a range, with all that they were called and labelled. */
export async function peersOverRange(
  services: ComputeServices,
  workspace: string,
  range: Range,
): Promise<PeerOverRange[]> {
  const [end, begin] = await statesOf(services, workspace, range);
  const versions = await services.store.versions(workspace, 'MeshPeer', { after: range.first, upTo: range.last });
  const records = new Map<string, PeerRecord[]>();
  const written = [...begin.peers.values(), ...versions.flatMap(({ record }) => record ?? []), ...end.peers.values()];
  /** Whoever had a name last. */
  const owners = new Map<string, string>();
  for (const record of written) {
    owners.set(foldName(record.name), record.uid);
    const others = records.get(record.uid)?.filter((other) => !hasSameNames(other, record)) ?? [];
    records.set(record.uid, [...others, record]);
  }
  const present = new Map([...end.peers.values()].map((peer) => [peer.uid, peer]));
  return [...records].flatMap(([uid, own]) => {
    const last = present.get(uid) ?? own.at(-1);
    if (!last) return [];
    const names = [...new Set(own.map(({ name }) => name))].filter((name) => owners.get(foldName(name)) === uid);
    return [{ peer: last, isThere: present.has(uid), names, versions: own }];
  });
}

function hasSameNames(a: PeerRecord, b: PeerRecord): boolean {
  return (
    a.name === b.name &&
    a.status.address === b.status.address &&
    a.spec.hostname === b.spec.hostname &&
    sameValue(a.labels, b.labels)
  );
}
