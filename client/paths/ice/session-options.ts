import type { Endpoint } from '../../tunnel/tunnel.ts';
import type { IceCredentials, IceRole, LossCause } from './check-message.ts';
import type { Pacer } from './pacer.ts';

/** Events of a session. Called in the midst of its methods: note it, and act afterwards. */
export interface IceEvents {
  send(to: Endpoint, bytes: Uint8Array): void;
  /** Both directions of this path are proven and both sides want it. Again when the path changes. */
  opened(now: number): void;
  /** The path in use is dead, or loses large packets. The session goes on trying. */
  lost(now: number, cause: LossCause): void;
  /** A path answers and is not taken, because it loses large packets: as found here, or as the peer says. */
  undersized(foundBy: 'self' | 'peer', now: number): void;
  /** A try ended without a path. */
  exhausted(now: number): void;
}

export interface IceSessionOptions {
  /** Marks the session's transactions; unique among those alive. */
  readonly number: number;
  readonly role: IceRole;
  readonly local: IceCredentials;
  readonly tieBreaker: bigint;
  readonly random: (bytes: number) => Uint8Array;
  readonly pacer: Pacer;
  /** Milliseconds between checks of consent under traffic. */
  readonly consentInterval: () => number;
  /** Packets have another path, so that one that loses large packets is worth leaving. */
  readonly hasOtherPath: () => boolean;
  readonly isUsable: (endpoint: Endpoint) => boolean;
  readonly events: IceEvents;
}
