import { MeshError } from '../base/errors.ts';
import type { Op } from '../base/ports.ts';
import type { NetworkState } from '../state/state.ts';
import { ADDRESS_QUARANTINE_MS } from './address.ts';
import { unknownNetwork } from './change-checks.ts';
import { nextOf, type PlannedChange } from './planned-change.ts';
import { endQuarantine, quarantineDraft } from './quarantine.ts';
import { type SlotIndex, slotIndexOf } from './slot-index.ts';
import { widening } from './slots.ts';

/** A peer that changes its network gets an address there, and its old one goes into quarantine. */
export function planMoves(
  state: NetworkState,
  after: NetworkState,
  planned: readonly PlannedChange[],
  now: number,
): Op[] {
  const { quarantine: quarantined } = state;
  const ops: Op[] = [];
  let places: SlotIndex | undefined;
  for (const plan of planned) {
    const { before, op } = plan;
    if (before?.kind !== 'MeshPeer' || op?.op !== 'update' || op.record.kind !== 'MeshPeer') continue;
    const draft = op.record;
    if (draft.spec.network === before.spec.network) continue;
    const network = after.networks.get(draft.spec.network);
    if (!network) throw unknownNetwork(`/changes/${plan.index}/network`, draft.spec.network, after);
    if (before.status.address === null) continue;
    places ??= slotIndexOf(after);
    const address = places.claim(network.spec.cidr, now);
    if (address === undefined) {
      throw new MeshError(
        'conflict',
        `The network ${network.name} has no free address for ${plan.name}.${widening(after, network.name)}`,
      );
    }
    ops.push(...endQuarantine(address, quarantined));
    ops.push({ op: 'create', record: quarantineDraft(before.status.address, now + ADDRESS_QUARANTINE_MS) });
    const record = {
      ...draft,
      status: { ...draft.status, address },
      unique: [...draft.unique.filter((value) => !value.startsWith('ip:')), `ip:${address}`],
    };
    plan.op = { op: 'update', record, revision: before.revision };
    plan.next = nextOf(state, before, record);
  }
  return ops;
}
