import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { Log } from '../../core/base/ports.ts';
import { StateFile } from '../enrol/state-file.ts';
import { type Addresses, askDns, type Lookup } from '../lookup.ts';

/** A resolver that is away takes 10 s and more to say so; what is known is used after this. */
const PATIENCE_MS = 2_000;
/** More than a graph names; the host asked for longest ago is forgotten first. */
const MAX_HOSTS = 64;

/** Last good addresses of control plane, bus, relays and STUN servers on disk, for a node that starts or reconnects while DNS is away. */
export class KnownAddresses implements Addresses {
  readonly #file: StateFile;
  readonly #log: Log;
  readonly #ask: Lookup;
  readonly #byHost: Map<string, readonly LookupAddress[]>;

  constructor(directory: string | undefined, log: Log, ask: Lookup = askDns) {
    this.#file = new StateFile(directory, 'known-addresses.json');
    this.#log = log;
    this.#ask = ask;
    this.#byHost = this.#read();
  }

  /** Returns the addresses that DNS has, or the last ones where it does not answer in time. */
  readonly lookup: Lookup = async (host) => {
    const asked = this.#askAndRemember(host);
    return (await this.#lastUnless(asked, host)) ?? asked;
  };

  async lastWhileAway(host: string): Promise<readonly LookupAddress[] | undefined> {
    const asked = this.#askAndRemember(host);
    // Without last addresses nobody waits for it.
    asked.catch(() => {});
    return this.#lastUnless(asked, host);
  }

  async #askAndRemember(host: string): Promise<readonly LookupAddress[]> {
    const found = await this.#ask(host);
    this.#remember(host, found);
    return found;
  }

  async #lastUnless(asked: Promise<unknown>, host: string): Promise<readonly LookupAddress[] | undefined> {
    const known = this.#byHost.get(host);
    if (!known) return undefined;
    const { promise: late, resolve } = Promise.withResolvers<typeof known>();
    const timer = setTimeout(resolve, PATIENCE_MS, known);
    const answer = asked.then(
      () => undefined,
      () => known,
    );
    const last = await Promise.race([answer, late]);
    clearTimeout(timer);
    return last;
  }

  #remember(host: string, found: readonly LookupAddress[]): void {
    if (isIP(host) !== 0 || found.length === 0) return;
    const isKnown = JSON.stringify(this.#byHost.get(host)) === JSON.stringify(found);
    this.#byHost.delete(host);
    this.#byHost.set(host, found);
    const [oldest] = this.#byHost.keys();
    if (this.#byHost.size > MAX_HOSTS && oldest !== undefined) this.#byHost.delete(oldest);
    if (isKnown) return;
    const texts = [...this.#byHost].map(([name, addresses]) => [name, addresses.map(({ address }) => address)]);
    try {
      this.#file.replace(JSON.stringify(Object.fromEntries(texts)));
    } catch (error) {
      this.#log.warn({ error: String(error) }, 'the addresses of control plane, bus and relays were not kept on disk');
    }
  }

  /** Empty when there is none, or it is damaged: names are then asked for. */
  #read(): Map<string, readonly LookupAddress[]> {
    try {
      const texts: Record<string, readonly string[]> = JSON.parse(this.#file.read());
      return new Map(
        Object.entries(texts).map(([host, addresses]) => [
          host,
          addresses.flatMap((address) => (isIP(address) === 0 ? [] : [{ address, family: isIP(address) }])),
        ]),
      );
    } catch {
      return new Map();
    }
  }
}
