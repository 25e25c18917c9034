import type { Delivery } from './commands.ts';
import { MAX_CONTROL_IN_FLIGHT, MAX_CONTROL_IN_FLIGHT_BYTES, STRANGERS_PART } from './limits.ts';

/** How much may be on the way to the control plane: what it is too busy for is dropped, not piled up in memory. */
export class ControlWindow {
  #messages = 0;
  #bytes = 0;

  /** True when the delivery may go; it then counts until it is acknowledged. What strangers fill leaves room for nodes. */
  admit(delivery: Delivery): boolean {
    const bytes = deliveryBytes(delivery);
    const part = delivery.from === undefined ? STRANGERS_PART : 1;
    if (this.#messages + 1 > MAX_CONTROL_IN_FLIGHT * part) return false;
    if (this.#bytes + bytes > MAX_CONTROL_IN_FLIGHT_BYTES * part) return false;
    this.#messages++;
    this.#bytes += bytes;
    return true;
  }

  /** The control plane has handled that much. */
  acknowledge(messages: number, bytes: number): void {
    this.#messages -= messages;
    this.#bytes -= bytes;
  }
}

/** Bytes a delivery takes on its way. */
export function deliveryBytes({ subject, reply, headers, payload }: Delivery): number {
  return subject.length + (reply?.length ?? 0) + (headers?.length ?? 0) + payload.length;
}
