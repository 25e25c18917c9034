import { Duplex } from 'node:stream';
import type { Endpoint } from '../tunnel/tunnel.ts';
import { FRAME, type Frame, type FrameKind, u32 } from './frames.ts';

/** Bytes on their way to the stack that it has not taken yet, at most; native/netstack/connection.go has the same for the other way. */
const WINDOW_BYTES = 524_288;

/** Tells a TCP connection from a UDP flow. */
export interface Protocol {
  /** A UDP flow ends after so long without a datagram; 0 stands for TCP. */
  readonly idleSeconds: number;
}

export const TCP: Protocol = { idleSeconds: 0 };
/** RFC 4787, REQ-5. */
export const UDP: Protocol = { idleSeconds: 120 };

/** Reason that the stack gives for a connection that no policy permits. */
const POLICY = 'policy';

/** A connection of the overlay did not come about, or broke. */
export class OverlayConnectionError extends Error {
  override readonly name = 'OverlayConnectionError';
  /** As Node's own sockets name it. */
  readonly code: 'EACCES' | 'ECONNREFUSED' | 'ECONNRESET' | 'EHOSTUNREACH' | 'ETIMEDOUT';

  constructor(reason: string, to: Endpoint) {
    super(textOf(reason, to));
    this.code = codeOf(reason);
  }
}

function codeOf(reason: string): OverlayConnectionError['code'] {
  if (reason === POLICY) return 'EACCES';
  if (reason.includes('refused')) return 'ECONNREFUSED';
  if (reason.includes('timeout') || reason.includes('timed out')) return 'ETIMEDOUT';
  return reason.includes('unreachable') || reason.includes('no route') ? 'EHOSTUNREACH' : 'ECONNRESET';
}

function textOf(reason: string, { address, port }: Endpoint): string {
  if (reason === POLICY) return `No policy permits a connection to ${address} port ${port}.`;
  return `The connection to ${address} port ${port} ended: ${reason.replace(/\.$/, '')}.`;
}

export interface ConnectionOptions {
  readonly number: number;
  readonly remote: Endpoint;
  /** A UDP flow: each chunk is one datagram. */
  readonly isFlow: boolean;
  /** Sends a frame about this connection. */
  readonly send: (kind: FrameKind, ...fields: readonly Uint8Array[]) => void;
  readonly onClosed: () => void;
}

/** A TCP connection or UDP flow of the userspace stack. To end one half of a flow ends it. */
export class OverlayConnection extends Duplex {
  readonly remote: Endpoint;
  readonly #options: ConnectionOptions;
  /** Bytes that were read and not yet acknowledged. */
  #owed = 0;
  #unacknowledged = 0;
  #written: (() => void) | undefined;
  #isOver = false;

  constructor(options: ConnectionOptions) {
    super({ allowHalfOpen: true, readableObjectMode: options.isFlow });
    this.#options = options;
    this.remote = options.remote;
  }

  /** Takes a frame of the stack about this connection. */
  receive({ kind, fields }: Frame): void {
    switch (kind) {
      case FRAME.dial:
        this.emit('connect');
        return;
      case FRAME.data: {
        const bytes = fields.rest();
        this.#owed += bytes.length;
        if (this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))) this.#acknowledge();
        return;
      }
      case FRAME.end:
        this.push(null);
        return;
      case FRAME.credit:
        this.#unacknowledged -= fields.u32();
        this.#continue();
        return;
      case FRAME.reset:
        this.fail(fields.text());
        return;
    }
  }

  /** Ends it because the stack ended it. @param reason empty where both sides had said all */
  fail(reason: string): void {
    this.#isOver = true;
    if (reason !== '') this.destroy(new OverlayConnectionError(reason, this.remote));
    else if (this.readableEnded) this.destroy();
    // Bytes that have arrived can still be read.
    else this.once('end', () => this.destroy());
  }

  override _read(): void {
    this.#acknowledge();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#options.send(FRAME.data, u32(this.#options.number), chunk);
    this.#unacknowledged += chunk.length;
    this.#written = callback;
    this.#continue();
  }

  override _final(callback: () => void): void {
    if (!this.#isOver) this.#options.send(FRAME.end, u32(this.#options.number));
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (!this.#isOver) this.#options.send(FRAME.reset, u32(this.#options.number));
    this.#isOver = true;
    this.#options.onClosed();
    callback(error);
  }

  #acknowledge(): void {
    if (this.#owed === 0 || this.#isOver) return;
    this.#options.send(FRAME.credit, u32(this.#options.number), u32(this.#owed));
    this.#owed = 0;
  }

  #continue(): void {
    if (this.#unacknowledged > WINDOW_BYTES) return;
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }
}
