import type { Socket } from 'node:net';
import type { Broker } from './broker.ts';
import type { Chunk } from './buffer-pool.ts';
import type { Session } from './session.ts';
import { steadyNow } from './steady-clock.ts';

/** Milliseconds a closed connection may still send, so that our last words are not lost to a reset. */
export const LINGER_MS = 1_000;

/** A session of the broker and the socket that its bytes go to. */
export class ClientConnection {
  readonly session: Session;
  socket: Socket;
  readonly #broker: Pick<Broker, 'take' | 'written'>;
  readonly #onWritten: () => void;
  /** The bytes that the socket has not taken yet. */
  #writing: Chunk | undefined;
  #started = 0;
  #finished = 0;
  #linger: NodeJS.Timeout | undefined;

  /** @param onTaken the socket has taken what it was behind with: more may wait */
  constructor(session: Session, socket: Socket, broker: Pick<Broker, 'take' | 'written'>, onTaken: () => void) {
    this.session = session;
    this.socket = socket;
    this.#broker = broker;
    this.#onWritten = () => {
      this.#finished++;
      const chunk = this.#writing;
      if (chunk === undefined || this.#finished < this.#started) return;
      this.#writing = undefined;
      broker.written(session, chunk);
      onTaken();
    };
  }

  /** Writes what waits, until the socket falls behind. */
  write(): void {
    const { session, socket } = this;
    const now = steadyNow();
    while (!socket.destroyed && !socket.writableEnded) {
      const chunk = this.#broker.take(session, now);
      if (chunk === undefined) return;
      this.#started++;
      socket.write(chunk.bytes, this.#onWritten);
      if (socket.writableLength > 0) {
        this.#writing = chunk;
        return;
      }
      // The kernel has copied it already: the buffer is free before the callback comes.
      this.#broker.written(session, chunk);
    }
  }

  /** Writes the last words and ends it; `cut`: at once. */
  close(cut: boolean): void {
    const { session, socket } = this;
    if (cut) {
      socket.destroy();
      return;
    }
    let chunk = this.#broker.take(session, steadyNow());
    for (; chunk !== undefined; chunk = this.#broker.take(session, steadyNow())) socket.write(chunk.bytes);
    socket.end();
    socket.resume();
    this.#linger = setTimeout(() => socket.destroy(), LINGER_MS);
  }

  /** Its socket is closed. */
  closed(): void {
    clearTimeout(this.#linger);
  }
}
