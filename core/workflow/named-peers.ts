import type { Write } from '../authority/writes.ts';
import { MeshError } from '../base/errors.ts';
import type { EffectView } from '../effect/effect-view.ts';
import { lookUpById } from '../model/find.ts';
import { gonePeers } from '../model/peer-lists.ts';
import type { NetworkState } from '../state/state.ts';

/** Returns the names of the peers that a request shows, each with the id of the peer. */
export function namedPeers(
  writes: readonly Write[],
  { opened }: Pick<EffectView, 'opened'>,
  { peers }: NetworkState,
): Record<string, string> {
  const listed = writes.flatMap(({ before, after }) => gonePeers([before?.spec, after?.spec], () => false));
  const written = writes.flatMap(({ kind, before }) => (kind === 'MeshPeer' && before ? [before.uid] : []));
  const ends = opened.flatMap(({ src, dst }) => [src, dst]).flatMap((name) => peers.get(name) ?? []);
  const known = [...listed, ...written].flatMap((id) => lookUpById(peers, id) ?? []);
  return Object.fromEntries([...known, ...ends].map(({ name, uid }) => [name, uid]));
}

/**
 * Refuses names that mean other peers by now: reviewers take a name for the peer that has it. A deleted peer is nobody.
 *
 * @throws MeshError `conflict` where one of them means another peer by now
 */
export function requireSameNames(named: Readonly<Record<string, string>>, { peers }: NetworkState): void {
  for (const [name, uid] of Object.entries(named)) {
    const holder = peers.get(name);
    if (holder?.uid === uid || (!holder && !lookUpById(peers, uid))) continue;
    throw new MeshError(
      'conflict',
      `The name ${name} does not mean the peer any more for which this was asked: reject it, and have it asked for again.`,
    );
  }
}
