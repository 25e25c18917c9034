import type { Log } from '../../core/base/ports.ts';
import { formatInstant } from '../../core/base/time.ts';
import type { Overlay } from './overlay.ts';

const LOOK_MS = 2_000;

/** Says each WireGuard handshake, for `--enable-sys-log`: the kernel itself says none. */
export class HandshakeWatch {
  readonly #overlay: Pick<Overlay, 'up'>;
  readonly #log: Log;
  readonly #last = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #isLooking = false;

  constructor(overlay: Pick<Overlay, 'up'>, log: Log) {
    this.#overlay = overlay;
    this.#log = log;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { up } = this.#overlay;
    if (!up || this.#isLooking) return;
    this.#isLooking = true;
    try {
      const names = new Map(up.graph.peers.map(({ publicKey, name }) => [publicKey, name]));
      const states = await up.tunnel.peers();
      for (const key of this.#last.keys()) if (!names.has(key)) this.#last.delete(key);
      for (const { publicKey, handshakeAt, endpoint } of states) {
        if (handshakeAt === null || this.#last.get(publicKey) === handshakeAt) continue;
        this.#last.set(publicKey, handshakeAt);
        const where = endpoint ? { address: endpoint.address, port: endpoint.port } : {};
        this.#log.debug(where, `wireguard: handshake with ${names.get(publicKey)} at ${formatInstant(handshakeAt)}`);
      }
    } catch (error) {
      this.#log.debug({ error: String(error) }, 'wireguard: the tunnel did not say how it is');
    } finally {
      this.#isLooking = false;
    }
  }
}
