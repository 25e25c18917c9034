import { once } from 'node:events';
import { connect, Socket } from 'node:net';

/** A bare client: writes bytes, counts bytes. It must cost less than the broker it measures. */
export class Wire {
  readonly socket: Socket;
  received = 0;
  #wanted = Number.POSITIVE_INFINITY;
  #done: () => void = () => {};
  onBytes: ((bytes: Uint8Array) => void) | undefined;

  private constructor(port: number) {
    this.socket = new Socket();
    const buffer = SHARED;
    const callback = (length: number, bytes: Uint8Array): boolean => {
      this.received += length;
      this.onBytes?.(bytes.subarray(0, length));
      if (this.received >= this.#wanted) this.#done();
      return true;
    };
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } });
  }

  static async open(port: number, first = ''): Promise<Wire> {
    const wire = new Wire(port);
    await once(wire.socket, 'connect');
    let heard = '';
    await new Promise<void>((resolve) => {
      wire.onBytes = (bytes) => {
        heard += Buffer.from(bytes).toString('latin1');
        if (heard.includes('PONG\r\n')) resolve();
      };
      wire.socket.write(`CONNECT {"verbose":false,"pedantic":false,"headers":true}\r\n${first}PING\r\n`);
    });
    wire.onBytes = undefined;
    wire.received = 0;
    return wire;
  }

  /** Resolves when that many bytes have come since the last `reset`. */
  expect(bytes: number): Promise<void> {
    this.received = 0;
    this.#wanted = bytes;
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }

  /** Writes, and waits when the socket is full. */
  async write(bytes: Uint8Array): Promise<void> {
    if (!this.socket.write(bytes)) await once(this.socket, 'drain');
  }

  close(): void {
    this.socket.destroy();
  }
}

/** One read buffer for all: bytes are counted before the next read. */
const SHARED = Buffer.allocUnsafe(262_144);
