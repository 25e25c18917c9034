import { invalidInput, MeshError } from '../base/errors.ts';
import { lazily } from '../base/lazily.ts';
import type { Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { formatInstant, parseInstant } from '../base/time.ts';
import { isRenumbering, RENUMBERING_MS } from '../model/renumbering.ts';
import type { FormerBlock, NetworkRecord, PeerRecord } from '../model/resources.ts';
import type { NetworkState } from '../state/state.ts';
import { ADDRESS_QUARANTINE_MS, sameHostIn } from './address.ts';
import { nextOf, type PlannedChange, stateAfter } from './planned-change.ts';
import { endQuarantine } from './quarantine.ts';

/** Returns the address that a peer has beside its own while its network is being renumbered. */
export function formerAddressOf(
  { spec, status }: PeerRecord,
  { networks }: Pick<NetworkState, 'networks'>,
): { readonly address: string; readonly cidr: string } | undefined {
  const network = networks.get(spec.network);
  const former = network?.status.former;
  if (!network || former?.phase !== 'carried' || status.address === null) return undefined;
  const address = sameHostIn(former.cidr, network.spec.cidr, status.address);
  return address === undefined ? undefined : { address, cidr: former.cidr };
}

/** Returns the addresses of a peer, the present one first; none before its approval. */
export function addressesOf(peer: PeerRecord, state: Pick<NetworkState, 'networks'>): string[] {
  const { address } = peer.status;
  const former = formerAddressOf(peer, state);
  return [...(address === null ? [] : [address]), ...(former ? [former.address] : [])];
}

/** Tells whether a batch renumbers a network, which waits for the approval of a person. */
export function renumbers(ops: readonly Op[], { networks }: Pick<NetworkState, 'networks'>): boolean {
  return ops.some(
    (op) =>
      op.op === 'update' &&
      op.record.kind === 'MeshNetwork' &&
      op.record.status.former?.cidr !== networks.get(op.record.name)?.status.former?.cidr,
  );
}

/**
 * Gives each peer of a network that gets another block the address at the same place of it. The network remembers its old block,
 * so that nodes carry both addresses; the updates of peers that the batch does not name are answered.
 *
 * @throws MeshError `invalid_input` where the new block has no such place, `conflict` where one of the addresses is in quarantine
 */
export function planRenumbering(
  state: NetworkState,
  planned: readonly PlannedChange[],
  now: number,
): { readonly peers: readonly PlannedChange[]; readonly ops: readonly Op[] } {
  const peersAfter = lazily(() => stateAfter(state, planned).peers);
  const ofPeers = lazily(
    () => new Map(planned.flatMap((plan) => (plan.before?.kind === 'MeshPeer' ? [[plan.name, plan]] : []))),
  );
  const added: PlannedChange[] = [];
  const ops: Op[] = [];
  for (const plan of planned) {
    const { before, next, op } = plan;
    if (before?.kind !== 'MeshNetwork' || next?.kind !== 'MeshNetwork' || op?.op !== 'update') continue;
    const [from, to] = [before.spec.cidr, next.spec.cidr];
    if (!isRenumbering(from, to)) continue;
    const members = [...peersAfter().values()].filter((peer) => isMember(peer, before));
    if (members.length === 0) continue;
    refuseTwice(before, to, now);
    const moves = placesIn(to, from, members, plan);
    for (const [peer, address] of moves) {
      const own = ofPeers().get(peer.name);
      const was = own?.before ?? peer;
      const record = {
        ...draftOf(peer),
        status: { ...peer.status, address },
        unique: [...peer.unique.filter((value) => !value.startsWith('ip:')), `ip:${address}`],
      };
      const update = {
        op: { op: 'update', record, revision: was.revision },
        next: nextOf(state, was, record),
      } as const;
      if (own) Object.assign(own, update);
      else
        added.push({
          index: plan.index,
          resource: 'MeshPeer',
          name: peer.name,
          outcome: 'updated',
          before: peer,
          ...update,
        });
      refuseQuarantined(address, state, now);
      ops.push(...endQuarantine(address, state.quarantine));
    }
    const former: FormerBlock = { cidr: from, phase: 'carried', until: formatInstant(now + RENUMBERING_MS) };
    const record = { ...draftOf(next), status: { former } };
    plan.op = { op: 'update', record, revision: before.revision };
    plan.next = { ...next, status: record.status };
  }
  return { peers: added, ops };
}

/** Returns the update of a network whose former block has been carried, or has rested, for long enough; undefined for any other. */
export function afterRenumbering(network: NetworkRecord, now: number): Op | undefined {
  const { former } = network.status;
  if (!former || parseInstant(former.until) > now) return undefined;
  const rest: FormerBlock = { ...former, phase: 'resting', until: formatInstant(now + ADDRESS_QUARANTINE_MS) };
  const status = former.phase === 'carried' ? { former: rest } : {};
  return { op: 'update', record: { ...draftOf(network), status }, revision: network.revision };
}

function isMember({ spec, status }: PeerRecord, network: NetworkRecord): boolean {
  // A peer that comes from another network in the same batch gets its address in the new block anyway.
  return (
    spec.network === network.name &&
    status.address !== null &&
    sameHostIn(network.spec.cidr, network.spec.cidr, status.address) !== undefined
  );
}

/** A second block would have peers forget the first one, which nodes still carry; back to that one is no other block. */
function refuseTwice({ name, status: { former } }: NetworkRecord, to: string, now: number): void {
  if (former?.phase !== 'carried' || former.cidr === to) return;
  const minutes = Math.max(1, Math.ceil((parseInstant(former.until) - now) / 60_000));
  throw new MeshError(
    'conflict',
    `The network ${name} is being renumbered: its peers carry ${former.cidr} too. Renumber it again in ${minutes} min, or back to ${former.cidr} now.`,
  );
}

function placesIn(
  to: string,
  from: string,
  members: readonly PeerRecord[],
  { index, name }: PlannedChange,
): (readonly [PeerRecord, string])[] {
  return members.map((peer) => {
    const { address } = peer.status;
    const moved = address === null ? undefined : sameHostIn(to, from, address);
    if (moved !== undefined) return [peer, moved] as const;
    const detail = `${to} is too small to renumber the network ${name}: each peer keeps its place in the block, and ${peer.name} has ${address} in ${from}. Choose a block with the prefix /${from.split('/')[1]}.`;
    throw invalidInput([{ pointer: `/changes/${index}/spec/cidr`, detail }]);
  });
}

function refuseQuarantined(address: string, { quarantine }: NetworkState, now: number): void {
  const until = quarantine.get(address)?.spec.until ?? now;
  if (until <= now) return;
  const seconds = Math.ceil((until - now) / 1_000);
  throw new MeshError(
    'conflict',
    `${address} of the new block was freed a moment ago, and nodes may still know it as another peer's. Try again in ${seconds} s.`,
  );
}
