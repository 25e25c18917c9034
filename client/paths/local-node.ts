import type { SignalMessage } from '../../net/signal/message.ts';
import type { RelayCosts } from '../../net/signal/relay-costs.ts';
import type { Family } from '../family.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import type { Candidate } from './ice/candidate.ts';
import type { PathCommand } from './path-command.ts';
import type { Sessions } from './sessions.ts';

/** This end of all pairs, as one pair sees it. */
export interface LocalNode {
  readonly ownKey: Uint8Array;
  readonly isBusUp: boolean;
  readonly relay: RelayState;
  /** Costs of the relays that this node can use; undefined with one relay or none. */
  readonly relayCosts: RelayCosts | undefined;
  readonly icePort: IcePortState;
  readonly candidates: readonly Candidate[];
  /** The tunnel of this node can be given no other addresses; undefined: both. */
  readonly onlyFamily: Family | undefined;
  readonly sessions: Pick<Sessions, 'open' | 'close'>;
  emit(command: PathCommand): void;
  /** From 0 to below 1. */
  fraction(): number;
  random(bytes: number): Uint8Array;
  /** Asks the peer to prove that it runs. @returns when to come back, if there is too much to ask at once */
  syn(peer: Uint8Array, now: number): number | undefined;
  /** @returns when to come back, if there is too much to tell peers of relays at once */
  tellsOfRelays(now: number): number | undefined;
  signal(peer: Uint8Array, message: SignalMessage): void;
  /** True where another host may be there. */
  isUsable(endpoint: Endpoint): boolean;
}

export type RelayState =
  | { readonly state: 'ready' }
  | { readonly state: 'away'; readonly reason: string }
  | { readonly state: 'none' };

export interface IcePortState {
  /** Reason why STUN cannot share WireGuard's port; null where it can. */
  readonly obstacle: string | null;
  readonly isMapped: boolean;
}
