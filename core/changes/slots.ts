import { MeshError } from '../base/errors.ts';
import type { Op } from '../base/ports.ts';
import type { RecordDraft } from '../base/record.ts';
import { widerBlock } from '../model/free-block.ts';
import type { NetworkState } from '../state/state.ts';
import { endQuarantine } from './quarantine.ts';
import { slotIndexOf } from './slot-index.ts';

export type PeerDraft = RecordDraft<'MeshPeer'>;

/**
 * The unique value of a new peer's node slot. Each peer of a workspace holds one of its `maxNodeCount` slots, so two
 * registrations at the same moment can never both take the last one.
 *
 * @throws MeshError `conflict` when the workspace is full.
 */
export function freeSlot(state: NetworkState, maxNodeCount: number): string {
  const slot = slotIndexOf(state).lowestFreeSlot();
  if (slot < maxNodeCount && state.peers.size < maxNodeCount) return `slot:${slot}`;
  throw new MeshError(
    'conflict',
    `The workspace has its ${maxNodeCount} nodes: delete one, or ask an administrator to raise maxNodeCount.`,
  );
}

/** A network that is deleted at the same moment wins. */
export function networkCheck(state: NetworkState, name: string): Op[] {
  const network = state.networks.get(name);
  if (!network) throw new MeshError('conflict', `The network ${name} of this token is gone: ask for a new token.`);
  return [{ op: 'check', key: { kind: 'MeshNetwork', name }, revision: network.revision }];
}

/**
 * A peer made ready: with the next address of its network, and the ops that belong to the same commit.
 *
 * @throws MeshError `conflict` when peers hold every address of the network.
 */
export function assignSlot(
  state: NetworkState,
  draft: PeerDraft,
  now: number,
): { readonly record: PeerDraft; readonly ops: readonly Op[] } {
  const check = networkCheck(state, draft.spec.network);
  const cidr = state.networks.get(draft.spec.network)?.spec.cidr ?? '';
  const address = slotIndexOf(state).nextAddress(cidr, now);
  if (address === undefined) {
    throw new MeshError(
      'conflict',
      `The network ${draft.spec.network} (${cidr}) has no free address: its peers hold all of them.${widening(state, draft.spec.network)}`,
    );
  }
  const record: PeerDraft = {
    ...draft,
    status: { ...draft.status, phase: 'ready', address },
    unique: [...draft.unique, `ip:${address}`],
  };
  return { record, ops: [...check, ...endQuarantine(address, state.quarantine)] };
}

/** Returns the command by which an administrator doubles the block of a network, where that is possible. */
export function widening({ networks }: NetworkState, name: string): string {
  const spec = networks.get(name)?.spec;
  const others = [...networks.values()].flatMap((other) => (other.name === name ? [] : [other.spec.cidr]));
  const cidr = spec && widerBlock(spec.cidr, others);
  if (!cidr) return '';
  return ` An administrator widens it: mesh admin update-network ${name} --spec '${JSON.stringify({ ...spec, cidr })}'`;
}
