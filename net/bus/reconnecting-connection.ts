import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';

export interface ReconnectOptions {
  /** Where the bus is: `host:port` or URLs, tried until one answers. */
  readonly servers: readonly string[];
  /** Read at each connect, for all that are tried: credentials change. */
  readonly connecting: (servers: readonly string[]) => NodeConnectionOptions;
  /** True if a server, `host:port`, that another server announced may be tried too; called at each connect. */
  readonly follows: (server: string) => boolean;
  /** Returns what to connect to for these servers, which may be their addresses; left out: themselves. Does not throw. */
  readonly find?: (servers: readonly string[]) => Promise<readonly string[]>;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
  onUp(connection: NatsConnection): void;
  onDown(): void;
  /** Servers came to the bus or left it. */
  onServers?(): void;
  /**
   * It ended, or could not be made; `error` is undefined where the server closed it without a word.
   *
   * @param lost the server, `host:port`, whose connection ended; undefined where none let it in
   */
  onTrouble(error: unknown, lost: string | undefined): void;
}

/** A connection to a bus that is made again for ever, with back-off and jitter, at whichever server answers. */
export class ReconnectingConnection {
  readonly #options: ReconnectOptions;
  readonly #ended: Promise<void>;
  #connection: NatsConnection | undefined;
  /** `host:port` of the servers that the last one told of. */
  #told: readonly string[] = [];
  #isClosed = false;
  #retryNow = () => {};
  #abandon: (reason: Error) => void = () => {};

  constructor(options: ReconnectOptions) {
    this.#options = options;
    this.#ended = this.#run();
  }

  /** Undefined while there is none. */
  get connection(): NatsConnection | undefined {
    return this.#connection;
  }

  /** All that are tried at the next connect. */
  get servers(): readonly string[] {
    const { servers, follows } = this.#options;
    const told = this.#told.filter((place) => follows(place) && !servers.some((one) => isAt(one, place)));
    return [...servers, ...told];
  }

  /** Does not wait for its time. */
  retryNow(): void {
    this.#retryNow();
  }

  /** Gives up a connection and makes another one. */
  abandon(connection: NatsConnection, reason: Error): void {
    if (this.#connection !== connection) return;
    this.#abandon(reason);
    void connection.close().catch(() => undefined);
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retryNow();
    await this.#connection?.close().catch(() => undefined);
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { firstRetryMs, lastRetryMs, onDown, onTrouble } = this.#options;
    let retryMs = firstRetryMs;
    while (!this.#isClosed) {
      let error: unknown;
      try {
        const connection = await this.#connect();
        retryMs = firstRetryMs;
        const abandoned = new Promise<Error>((resolve) => {
          this.#abandon = resolve;
        });
        error = await Promise.race([connection.closed(), abandoned]);
      } catch (refusal) {
        error = refusal;
      }
      const lost = this.#connection?.getServer();
      this.#connection = undefined;
      if (this.#isClosed) return;
      if (lost !== undefined) onDown();
      onTrouble(error, lost);
      // The whole span is drawn from: those that were cut off together do not come back together.
      await this.#pause(Math.random() * retryMs + firstRetryMs / 2);
      retryMs = Math.min(retryMs * 2, lastRetryMs);
    }
  }

  async #connect(): Promise<NatsConnection> {
    const servers = [...this.servers];
    const { find, connecting } = this.#options;
    const places = find ? [...(await find(servers))] : servers;
    const connection = await connect({
      ...connecting(servers),
      servers: places,
      reconnect: false,
      noAsyncTraces: true,
    });
    if (this.#isClosed) {
      await connection.close();
      return connection;
    }
    this.#connection = connection;
    void this.#hearOfServers(connection);
    this.#options.onUp(connection);
    return connection;
  }

  /** Stores the servers that this one announces, which outlive the connection. */
  async #hearOfServers(connection: NatsConnection): Promise<void> {
    const take = () => {
      this.#told = connection.info?.connect_urls ?? [];
    };
    take();
    for await (const { type } of connection.status()) {
      if (type !== 'update') continue;
      take();
      this.#options.onServers?.();
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#retryNow = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** True if a URL or `host:port` has that `host:port`. */
function isAt(server: string, place: string): boolean {
  return server.replace(/^[a-z]+:\/\//i, '') === place;
}
