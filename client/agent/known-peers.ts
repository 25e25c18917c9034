import type { Log } from '../../core/base/ports.ts';
import { formatHostPort } from '../../net/host-port.ts';
import { StateFile } from '../enrol/state-file.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import { parseEndpoint } from '../tunnel/uapi.ts';

/** Paths come in bursts: they are written together. */
const WRITE_AFTER_MS = 500;

/** Which peers were met, and where each was reached directly: on disk, so that a node finds them without the control plane. */
export class KnownPeers {
  readonly #file: StateFile;
  readonly #log: Log;
  readonly #byKey: Map<string, readonly Endpoint[]>;
  #timer: NodeJS.Timeout | undefined;

  constructor(directory: string | undefined, log: Log) {
    this.#file = new StateFile(directory, 'known-peers.json');
    this.#log = log;
    this.#byKey = this.#read();
  }

  /** By public key. */
  get all(): ReadonlyMap<string, readonly Endpoint[]> {
    return this.#byKey;
  }

  remember(publicKey: string, endpoints: readonly Endpoint[]): void {
    this.#byKey.set(publicKey, endpoints);
    this.#timer ??= setTimeout(() => this.flush(), WRITE_AFTER_MS);
  }

  /** Forgets all peers but these. */
  keep(publicKeys: ReadonlySet<string>): void {
    for (const publicKey of this.#byKey.keys()) {
      if (publicKeys.has(publicKey)) continue;
      this.#byKey.delete(publicKey);
      this.#timer ??= setTimeout(() => this.flush(), WRITE_AFTER_MS);
    }
  }

  /** Writes what is not on disk. */
  flush(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const peers = [...this.#byKey].map(([key, endpoints]) => [
      key,
      endpoints.map(({ address, port }) => formatHostPort(address, port)),
    ]);
    try {
      this.#file.replace(JSON.stringify(Object.fromEntries(peers)));
    } catch (error) {
      this.#log.warn({ error: String(error) }, 'where peers were reached was not kept on disk');
    }
  }

  /** Empty when there is none, or it is damaged: peers then meet by the bus. */
  #read(): Map<string, readonly Endpoint[]> {
    try {
      const peers: Record<string, readonly string[]> = JSON.parse(this.#file.read());
      return new Map(
        Object.entries(peers).map(([key, endpoints]) => [
          key,
          endpoints.flatMap((endpoint) => parseEndpoint(endpoint) ?? []),
        ]),
      );
    } catch {
      return new Map();
    }
  }
}
