import type { Delivery } from '../nats/commands.ts';

/** `down`: it is away and tried again. `up`: it is back, and what was published meanwhile is lost. */
export interface BusChange {
  readonly kind: 'down' | 'up' | 'refused';
}

/** The bus as the control plane uses it, embedded or external. */
export interface Bus {
  /** True while messages go through. */
  readonly isUp: boolean;
  /** Calls the handler for every message on the subject, wildcards allowed. Returns how to end it. */
  subscribe(subject: string, handler: (delivery: Delivery) => void, queue?: string): () => void;
  /** Bytes that one message may have. */
  readonly maxPayload: number;
  /** Sends a message, which is lost while the bus is away. */
  publish(subject: string, payload: Uint8Array, reply?: string): void;
  /** Attributes the connection of a delivery to a node, once the content of the delivery has proven the sender. */
  identify(delivery: Delivery, node: string): void;
  /** Resolves when the bus has what was said before, or is away. */
  flush(): Promise<void>;
  /** Hears when it goes and when it is back. */
  onChange(listener: (change: BusChange) => void): void;
}
