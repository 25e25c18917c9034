import { MeshError } from '../base/errors.ts';
import type { Op, Store } from '../base/ports.ts';
import type { RecordDraft } from '../base/record.ts';
import type { NetworkState } from '../state/state.ts';
import { heldAddresses, nextAddress } from './address.ts';
import { endQuarantine, quarantinedAddresses } from './quarantine.ts';

export type PeerDraft = RecordDraft<'MeshPeer'>;

const SLOT = /^slot:(\d+)$/;

/**
 * The unique value of a new peer's node slot. Each peer of a workspace holds one of its `maxNodeCount` slots, so two
 * registrations at the same moment can never both take the last one.
 *
 * @throws MeshError `conflict` when the workspace is full.
 */
export function freeSlot({ peers }: NetworkState, maxNodeCount: number): string {
  const taken = new Set<number>();
  for (const { unique } of peers.values()) {
    for (const value of unique) {
      const slot = SLOT.exec(value)?.[1];
      if (slot !== undefined) taken.add(Number(slot));
    }
  }
  for (let slot = 0; slot < maxNodeCount && peers.size < maxNodeCount; slot += 1) {
    if (!taken.has(slot)) return `slot:${slot}`;
  }
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
export async function placeIn(
  store: Pick<Store, 'list'>,
  state: NetworkState,
  draft: PeerDraft,
  now: number,
): Promise<{ readonly record: PeerDraft; readonly ops: readonly Op[] }> {
  const check = networkCheck(state, draft.spec.network);
  const cidr = state.networks.get(draft.spec.network)?.spec.cidr ?? '';
  const quarantined = await quarantinedAddresses(store, state.workspace);
  const address = nextAddress(cidr, heldAddresses(state), quarantined, now);
  if (address === undefined) {
    throw new MeshError(
      'conflict',
      `The network ${draft.spec.network} (${cidr}) has no free address: its peers hold all of them.`,
    );
  }
  const record: PeerDraft = {
    ...draft,
    status: { ...draft.status, phase: 'ready', address },
    unique: [...draft.unique, `ip:${address}`],
  };
  return { record, ops: [...check, ...endQuarantine(address, quarantined)] };
}
