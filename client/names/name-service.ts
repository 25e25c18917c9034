import type { Log } from '../../core/base/ports.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { type Listener, listenForQueries } from './listener.ts';
import type { HostResolver, Route } from './resolvers/resolver.ts';
import { type Zone, zoneOf } from './zone.ts';

const DNS_PORT = 53;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

export interface NameServiceOptions {
  readonly interfaceName: string;
  readonly resolvers: readonly HostResolver[];
  readonly log: Log;
  /** Another port than 53, for a test without rights. */
  readonly port?: number;
}

export interface NameStatus {
  /** Suffix of the names; null where there are none. */
  readonly domain: string | null;
  /** Where the server is; null while it is not. */
  readonly server: string | null;
  /** By what this host asks it; null where a person has to see to that. */
  readonly resolver: string | null;
  /** Why names do not resolve, or what a person does about it; empty where they do. */
  readonly trouble: string;
}

/** The names of the overlay that is up: a server on its own address, and the host's resolver told of it. */
export class NameService {
  readonly #options: NameServiceOptions;
  #zone: Zone | undefined;
  #wanted: FullGraph | undefined;
  #listener: (Listener & { readonly address: string }) | undefined;
  #resolver: HostResolver | undefined;
  /** Settings given to the host. */
  #route: Route | undefined;
  /** The same as text, and of which link: the host forgets what it was told of one that is gone. */
  #hostSettings = '';
  #links = 0;
  #trouble = '';
  #working: Promise<void> | undefined;
  #isDirty = false;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;

  constructor(options: NameServiceOptions) {
    this.#options = options;
  }

  get status(): NameStatus {
    const { address, port } = this.#listener ?? {};
    return {
      domain: this.#zone?.domain ?? null,
      server: address === undefined ? null : `${address.includes(':') ? `[${address}]` : address}:${port}`,
      resolver: this.#resolver?.name ?? null,
      trouble: this.#trouble || this.#unasked,
    };
  }

  /** The graph in force from now on; undefined where the overlay is down. */
  use(graph: FullGraph | undefined): void {
    this.#wanted = graph;
    if (!graph) this.#links += 1;
    // Known before it is asked for, and gone before the peer is.
    this.#zone = graph && zoneOf(graph);
    this.#work();
  }

  /** Takes everything away. Idempotent. */
  async close(): Promise<void> {
    this.use(undefined);
    await this.#working;
  }

  #work(): void {
    this.#isDirty = true;
    clearTimeout(this.#timer);
    this.#working ??= this.#run().finally(() => {
      this.#working = undefined;
    });
  }

  async #run(): Promise<void> {
    while (this.#isDirty) {
      this.#isDirty = false;
      clearTimeout(this.#timer);
      try {
        await this.#bringTo(this.#wanted);
        this.#retryMs = FIRST_RETRY_MS;
      } catch (error) {
        this.#say((error as Error).message);
        this.#timer = setTimeout(() => this.#work(), this.#retryMs);
        this.#timer.unref();
        this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
      }
    }
  }

  async #bringTo(graph: FullGraph | undefined): Promise<void> {
    if (!graph || !this.#zone) {
      await this.#takeDown();
      this.#say(graph ? 'names need a newer control plane, which says what they end in' : '');
      return;
    }
    await this.#listen(graph.self.address);
    const zone = this.#zone as Zone | undefined;
    // The overlay went down meanwhile: the next round takes everything away.
    if (!zone) return;
    await this.#tell({
      interfaceName: this.#options.interfaceName,
      address: graph.self.address,
      domain: zone.domain,
      reverse: zone.reverse,
    });
  }

  async #listen(address: string): Promise<void> {
    if (this.#listener?.address === address) return;
    await this.#listener?.close();
    this.#listener = undefined;
    const { port = DNS_PORT } = this.#options;
    // The zone of the moment: it may have gone meanwhile.
    const zone = () => this.#zone ?? NO_NAMES;
    try {
      const listener = await listenForQueries({ address, port, zone });
      this.#listener = { ...listener, address };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const why = code === 'EADDRINUSE' ? 'another program has it; the option --no-dns does without' : message;
      throw new Error(`names are not served on ${address} port ${port}: ${why}`);
    }
  }

  async #tell(route: Route): Promise<void> {
    const text = JSON.stringify([this.#links, route]);
    if (text === this.#hostSettings) return;
    const { resolvers, interfaceName } = this.#options;
    // Revert the settings of an earlier agent, which may have had other names or another way.
    for (const each of resolvers) if (each !== this.#resolver) await each.unset(interfaceName);
    const here = this.#resolver ?? (await firstHere(resolvers));
    await here?.set(route);
    this.#resolver = here;
    this.#route = route;
    this.#hostSettings = text;
    this.#say(here ? '' : hintOf(route));
    if (!here) return;
    this.#options.log.info({ by: here.name }, `names end in ${route.domain}`);
    if (this.#unasked) this.#options.log.warn({}, this.#unasked);
  }

  async #takeDown(): Promise<void> {
    await this.#resolver?.unset(this.#options.interfaceName);
    await this.#listener?.close();
    this.#listener = undefined;
    this.#resolver = undefined;
    this.#route = undefined;
    this.#hostSettings = '';
  }

  /** Looked at each time: who changes the host's files needs no restart to see it right. */
  get #unasked(): string {
    return (this.#route && this.#resolver?.unasked?.(this.#route)) ?? '';
  }

  #say(trouble: string): void {
    if (trouble !== '' && trouble !== this.#trouble) this.#options.log.warn({}, trouble);
    this.#trouble = trouble;
  }
}

const NO_NAMES: Zone = { domain: '', reverse: [], answer: () => ({ rcode: 5 }) };

async function firstHere(resolvers: readonly HostResolver[]): Promise<HostResolver | undefined> {
  for (const each of resolvers) if (await each.isHere()) return each;
  return undefined;
}

function hintOf({ address, domain }: Route): string {
  return (
    `this host has no resolver that can be told of ${domain} alone (systemd-resolved, NetworkManager with dnsmasq, openresolv): ` +
    `have yours ask ${address} for it, as dnsmasq does with server=/${domain}/${address}, or put nameserver ${address} first in ` +
    '/etc/resolv.conf, as --write-resolv-conf does until the node is stopped'
  );
}
