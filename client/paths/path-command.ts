import type { RelayCosts } from '../../net/signal/relay-costs.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import type { PathStatus } from './status.ts';

/** As `PathStatus`, before anyone knows which loopback address stands for the relay, and what time it is. */
export type PairStatus = Omit<PathStatus, 'endpoint' | 'relay' | 'silentMs'> & {
  readonly endpoint: Endpoint | 'relay' | null;
  /** When the first packet was sent that nothing followed from the peer. */
  readonly unansweredSince: number | undefined;
};

export type PathCommand =
  | { readonly type: 'publish'; readonly subject: string; readonly sealed: Uint8Array }
  /** From the port that is shared with WireGuard. */
  | { readonly type: 'stun'; readonly to: Endpoint; readonly bytes: Uint8Array }
  /** By way of the relay, to a peer's agent. */
  | { readonly type: 'relay'; readonly publicKey: string; readonly bytes: Uint8Array }
  /** Ask the relay whether a peer is connected to it. */
  | { readonly type: 'probe-relay'; readonly publicKey: string }
  | { readonly type: 'peer-costs'; readonly publicKey: string; readonly costs: RelayCosts }
  /** The peer was met: from now on the relay may carry its packets. */
  | { readonly type: 'met'; readonly publicKey: string }
  /** Keep for the next process of this node where a peer that was met is reached directly. */
  | { readonly type: 'remember'; readonly publicKey: string; readonly endpoints: readonly Endpoint[] }
  /** Tell the tunnel where a peer is. Not `isNew`: only say it again. */
  | {
      readonly type: 'endpoint';
      readonly publicKey: string;
      readonly endpoint: Endpoint | 'relay';
      readonly isNew: boolean;
    }
  /** A path to the peer opened: a handshake that was lost before may be sent again. */
  | { readonly type: 'opened'; readonly publicKey: string }
  /** Ask the tunnel how its peers are. */
  | { readonly type: 'look' }
  /** WireGuard is to begin a handshake; `isRenewal`: after it has forgotten the session that it has. */
  | { readonly type: 'handshake'; readonly publicKey: string; readonly isRenewal: boolean }
  | { readonly type: 'changed'; readonly status: PairStatus }
  | {
      readonly type: 'log';
      readonly level: 'info' | 'debug';
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    };
