import type { Log } from '../../core/base/ports.ts';
import type { StunMessage } from '../../net/stun/message.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';

/** WireGuard's UDP port as STUN of the agent uses it. */
export interface SharedPort {
  /** Leaves from WireGuard's port. */
  send(to: Endpoint, bytes: Uint8Array): void;
  /** Puts in force what shares the port, and tries it. @returns why it is not shared, for people; null where it is */
  share(): Promise<string | null>;
  isShared(): Promise<boolean>;
  /** The answer to a question that this host asked its own port; undefined for anything else. */
  answerOf(message: StunMessage, from: Endpoint): Uint8Array | undefined;
  close(): Promise<void>;
}

export interface SharedPortOptions {
  readonly interfaceName: string;
  readonly wireguardPort: number;
  readonly log: Log;
  readonly onDatagram: (bytes: Uint8Array, from: Endpoint) => void;
}

export type OpenSharedPort = (options: SharedPortOptions) => Promise<SharedPort>;
