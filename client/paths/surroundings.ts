import type { SignalMessage } from '../../net/signal/message.ts';
import type { Family } from '../family.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import type { Candidate } from './ice/candidate.ts';
import type { Sessions } from './sessions.ts';
import type { PathStatus } from './status.ts';

/** As `PathStatus`, before anyone knows which loopback address stands for the relay. */
export type PairStatus = Omit<PathStatus, 'endpoint'> & { readonly endpoint: Endpoint | 'relay' | null };

/** What the connectivity logic wants done. */
export type PathCommand =
  | { readonly type: 'publish'; readonly subject: string; readonly sealed: Uint8Array }
  /** From the port that is shared with WireGuard. */
  | { readonly type: 'stun'; readonly to: Endpoint; readonly bytes: Uint8Array }
  /** By way of the relay, to a peer's agent. */
  | { readonly type: 'relay'; readonly publicKey: string; readonly bytes: Uint8Array }
  /** Ask the relay whether a peer is connected to it. */
  | { readonly type: 'probe-relay'; readonly publicKey: string }
  /** The peer was met: from now on the relay may carry its packets. */
  | { readonly type: 'met'; readonly publicKey: string }
  /** Tell the tunnel where a peer is. Not `isNew`: only say it again. */
  | {
      readonly type: 'endpoint';
      readonly publicKey: string;
      readonly endpoint: Endpoint | 'relay';
      readonly isNew: boolean;
    }
  /** A way to the peer opened: what was lost before may be sent again. */
  | { readonly type: 'opened'; readonly publicKey: string }
  | { readonly type: 'changed'; readonly status: PairStatus }
  | {
      readonly type: 'log';
      readonly level: 'info' | 'debug';
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    };

/** What all pairs share, as one pair sees it. */
export interface Surroundings {
  readonly ownKey: Uint8Array;
  readonly isBusUp: boolean;
  readonly relay: RelayState;
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
  signal(peer: Uint8Array, message: SignalMessage): void;
  /** Whether another host may be there. */
  isUsable(endpoint: Endpoint): boolean;
}

export type RelayState =
  | { readonly state: 'ready' }
  | { readonly state: 'away'; readonly reason: string }
  | { readonly state: 'none' };

export interface IcePortState {
  /** What keeps STUN from sharing WireGuard's port; null when nothing does. */
  readonly obstacle: string | null;
  /** Whether any STUN server answered. */
  readonly isMapped: boolean;
}
