import { getOrInsertComputed } from '../base/get-or-insert.ts';
import { RecordMap } from '../model/record-map.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { NetworkState } from '../state/state.ts';
import { type Addresses, FreeAddresses } from './free-addresses.ts';

const SLOT = /^slot:(\d+)$/;

type Records = Pick<NetworkState, 'peers' | 'quarantine'>;

/** Networks whose free addresses are known; one of another block is counted anew. */
const MAX_NETWORKS = 64;

/**
 * Index of the keys, slots and addresses that peers hold, and of free slots and addresses. Registrations read it, after an
 * update by the changes since the last one.
 */
export class SlotIndex implements Addresses {
  #seen: Records;
  readonly #nameOfKey = new Map<string, string>();
  readonly #slots = new Set<number>();
  /** All below are taken. */
  #lowestSlot = 0;
  readonly #held = new Set<string>();
  readonly #networks = new Map<string, FreeAddresses>();
  /** Held until the index is asked for again, by peers that have not been written yet. */
  readonly #claimed = new Set<string>();

  constructor(state: Records) {
    this.#seen = state;
    for (const peer of state.peers.values()) this.#add(peer);
  }

  isHeld(address: string): boolean {
    return this.#held.has(address);
  }

  quarantinedUntil(address: string): number | undefined {
    return this.#seen.quarantine.get(address)?.spec.until;
  }

  peerWithKey(publicKey: string): PeerRecord | undefined {
    return this.#seen.peers.get(this.#nameOfKey.get(publicKey) ?? '');
  }

  lowestFreeSlot(): number {
    while (this.#slots.has(this.#lowestSlot)) this.#lowestSlot += 1;
    return this.#lowestSlot;
  }

  nextAddress(cidr: string, now: number): string | undefined {
    if (!this.#networks.has(cidr) && this.#networks.size >= MAX_NETWORKS) this.#networks.clear();
    return getOrInsertComputed(this.#networks, cidr, () => new FreeAddresses(cidr, this)).next(now);
  }

  /** As {@link nextAddress}, for one of several peers of one commit: none gets what another got. */
  claim(cidr: string, now: number): string | undefined {
    const address = this.nextAddress(cidr, now);
    if (address === undefined) return undefined;
    this.#held.add(address);
    this.#claimed.add(address);
    return address;
  }

  /** @returns false where the difference to that state is not known */
  moveTo({ peers, quarantine }: Records): boolean {
    const before = this.#seen;
    const names = RecordMap.changedNames(before.peers, peers);
    const addresses = RecordMap.changedNames(before.quarantine, quarantine);
    if (names === undefined || addresses === undefined) return false;
    const touched = new Set([...addresses, ...this.#claimed]);
    for (const address of this.#claimed) this.#held.delete(address);
    this.#claimed.clear();
    const differing = [...names].filter((name) => before.peers.get(name) !== peers.get(name));
    for (const name of differing) this.#remove(before.peers.get(name), touched);
    for (const name of differing) this.#add(peers.get(name), touched);
    this.#seen = { peers, quarantine };
    for (const network of this.#networks.values()) for (const address of touched) network.changed(address);
    return true;
  }

  #add(peer: PeerRecord | undefined, touched?: Set<string>): void {
    if (peer === undefined) return;
    const { address } = peer.status;
    this.#nameOfKey.set(peer.spec.publicKey, peer.name);
    for (const slot of slotsOf(peer)) this.#slots.add(slot);
    if (address !== null) this.#held.add(address);
    if (address !== null) touched?.add(address);
  }

  #remove(peer: PeerRecord | undefined, touched: Set<string>): void {
    if (peer === undefined) return;
    const { address } = peer.status;
    this.#nameOfKey.delete(peer.spec.publicKey);
    for (const slot of slotsOf(peer)) {
      this.#slots.delete(slot);
      this.#lowestSlot = Math.min(this.#lowestSlot, slot);
    }
    if (address !== null) this.#held.delete(address);
    if (address !== null) touched.add(address);
  }
}

function slotsOf({ unique }: PeerRecord): number[] {
  return unique.flatMap((value) => {
    const slot = SLOT.exec(value)?.[1];
    return slot === undefined ? [] : [Number(slot)];
  });
}

/** By line of states: each has one index, at the state that was asked about last. */
const indexes = new WeakMap<object, SlotIndex>();

/** The index at that state; it is that of the next one from the next call on. */
export function slotIndexOf(state: Records): SlotIndex {
  const line = state.peers instanceof RecordMap ? state.peers.line : state.peers;
  const known = indexes.get(line);
  if (known?.moveTo(state)) return known;
  const made = new SlotIndex(state);
  indexes.set(line, made);
  return made;
}
