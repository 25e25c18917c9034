import type { Delivery } from '../nats/commands.ts';

/** `down`: it is away and tried again. `up`: it is back, and what was published meanwhile is lost. */
export interface BusChange {
  readonly kind: 'down' | 'up' | 'refused';
}

/** What the control plane needs of a bus, embedded or elsewhere. */
export interface Bus {
  /** Whether messages go through now. */
  readonly isUp: boolean;
  /** Calls the handler for every message on the subject, wildcards allowed. Returns how to end it. */
  subscribe(subject: string, handler: (delivery: Delivery) => void, queue?: string): () => void;
  /** Bytes that one message may have. */
  readonly maxPayload: number;
  /** Sends a message, which is lost while the bus is away. */
  publish(subject: string, payload: Uint8Array, reply?: string): void;
  /** What a delivery brought proves whose connection it came on. */
  identify(delivery: Delivery, node: string): void;
  /** Resolves when the bus has what was said before, or is away. */
  flush(): Promise<void>;
  /** Hears when it goes and when it is back. */
  onChange(listener: (change: BusChange) => void): void;
}
