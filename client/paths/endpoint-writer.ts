import type { Log } from '../../core/base/ports.ts';
import type { Endpoint, Tunnel } from '../tunnel/tunnel.ts';

/** Tells the tunnel where peers are: one call at a time for a peer, and of several wishes only the last. */
export class EndpointWriter {
  readonly #tunnel: Pick<Tunnel, 'setEndpoint'>;
  readonly #log: Log;
  /** By public key of peers with a call under way; the value is what was wished for since. */
  readonly #wishes = new Map<string, Endpoint | undefined>();

  constructor(tunnel: Pick<Tunnel, 'setEndpoint'>, log: Log) {
    this.#tunnel = tunnel;
    this.#log = log;
  }

  set(publicKey: string, endpoint: Endpoint): void {
    const isBusy = this.#wishes.has(publicKey);
    this.#wishes.set(publicKey, isBusy ? endpoint : undefined);
    if (!isBusy) void this.#write(publicKey, endpoint);
  }

  async #write(publicKey: string, first: Endpoint): Promise<void> {
    for (let endpoint: Endpoint | undefined = first; endpoint !== undefined; ) {
      try {
        await this.#tunnel.setEndpoint(publicKey, endpoint);
      } catch (error) {
        // The next look at the tunnel finds the difference.
        this.#log.debug({ err: error }, 'The tunnel did not take an endpoint.');
      }
      endpoint = this.#wishes.get(publicKey);
      this.#wishes.set(publicKey, undefined);
    }
    this.#wishes.delete(publicKey);
  }
}
