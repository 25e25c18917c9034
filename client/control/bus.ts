import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Log } from '../../core/base/ports.ts';
import { busMannerOf } from './bus-address.ts';

/** Everything that this node needs of the bus; the client library is known here alone. */
export interface Bus {
  readonly isUp: boolean;
  /** Why it is not up; empty while it is. */
  readonly trouble: string;
  /** Dropped when the bus is away: whoever needs an answer repeats. */
  publish(subject: string, payload: Uint8Array): void;
  /** @throws Error without an answer in time */
  request(subject: string, payload: Uint8Array, timeoutMs: number): Promise<BusMessage>;
  /** This host has another network: a connection that does not answer soon is replaced, and one that failed is tried now. */
  networkChanged(): void;
  close(): Promise<void>;
}

export interface BusMessage {
  readonly subject: string;
  readonly data: Uint8Array;
}

export interface BusOptions {
  /** nats://host:port, or tls://host:port where there has to be TLS. */
  readonly url: string;
  /** Read at each connect: a key rotation changes it. */
  readonly credential: () => string;
  /** The credential is sent to a bus elsewhere without TLS too. */
  readonly inClear: boolean;
  readonly inboxPrefix: string;
  /** How long a connect may take. */
  readonly waitMs: number;
  readonly subjects: readonly string[];
  readonly log: Log;
  onMessage(message: BusMessage): void;
  onUp(): void;
  onDown(): void;
  /** It is not reached, for a new reason. */
  onTrouble(): void;
}

const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;
/** Two missed answers end a connection: a dead path is noticed within a minute. */
const PING_MS = 20_000;
/** The answer of a connection that something speaks against. */
const SUSPECT_MS = 500;

/** Connects, and again for ever, with back-off and jitter. */
export function openBus(options: BusOptions): Bus {
  const { url, log, waitMs } = options;
  const { tls, signsIn } = busMannerOf(url, options.inClear);
  let connection: NatsConnection | undefined;
  let trouble = 'connecting';
  let isClosed = false;
  let wakeUp = () => {};
  let abandon = () => {};

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function run(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    let told = '';
    while (!isClosed) {
      try {
        const { closed } = await begin();
        retryMs = FIRST_RETRY_MS;
        told = '';
        const abandoned = new Promise<Error>((resolve) => {
          abandon = () => resolve(new Error('the network of this host changed'));
        });
        const error = await Promise.race([closed, abandoned]);
        trouble = error ? explain(error, options) : `the bus at ${url} closed the connection`;
      } catch (error) {
        trouble = explain(error, options);
      }
      const was = connection;
      connection = undefined;
      if (isClosed) return;
      if (was) options.onDown();
      // An outage is said once, not at every attempt.
      if (trouble !== told) {
        log.warn({}, `${trouble}; trying again`);
        options.onTrouble();
      }
      told = trouble;
      // The whole span is drawn from: nodes that were cut off together do not come back together.
      await pause(Math.random() * retryMs + FIRST_RETRY_MS / 2);
      retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
    }
  }

  async function begin() {
    const opened = await connect({
      servers: url,
      ...(signsIn && { token: options.credential() }),
      ...(tls && { tls }),
      inboxPrefix: options.inboxPrefix,
      timeout: waitMs,
      reconnect: false,
      ignoreClusterUpdates: true,
      noAsyncTraces: true,
      pingInterval: PING_MS,
    });
    if (isClosed) {
      await opened.close();
      return { closed: Promise.resolve() };
    }
    for (const subject of options.subjects) {
      opened.subscribe(subject, {
        callback: (error, message) => {
          if (error) log.debug({ error: String(error) }, 'the bus refused a subscription');
          else options.onMessage({ subject: message.subject, data: message.data });
        },
      });
    }
    connection = opened;
    trouble = '';
    log.info({}, `connected to the bus at ${url}`);
    options.onUp();
    return { closed: opened.closed() };
  }

  const ended = run();
  return {
    get isUp() {
      return connection !== undefined;
    },
    get trouble() {
      return trouble;
    },
    publish(subject, payload) {
      try {
        connection?.publish(subject, payload);
      } catch (error) {
        log.debug({ error: String(error) }, 'the bus took no message');
      }
    },
    async request(subject, payload, timeoutMs) {
      if (!connection) throw new Error(trouble);
      const answer = await connection.request(subject, payload, { timeout: timeoutMs });
      return { subject: answer.subject, data: answer.data };
    },
    networkChanged() {
      wakeUp();
      const suspected = connection;
      if (!suspected) return;
      const isLate = setTimeout(() => {
        if (connection !== suspected) return;
        abandon();
        void suspected.close().catch(() => undefined);
      }, SUSPECT_MS);
      suspected
        .rtt()
        .then(() => clearTimeout(isLate))
        .catch(() => undefined);
    },
    async close() {
      isClosed = true;
      wakeUp();
      await connection?.close().catch(() => undefined);
      await ended;
    },
  };
}

function explain(error: unknown, { url, waitMs, inClear }: BusOptions): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string } };
  if (name === 'TimeoutError' || /timeout/i.test(message)) {
    return `the bus at ${url} did not answer within ${waitMs / 1_000} s (--bus-wait)`;
  }
  if (/does not support 'tls'/.test(message)) {
    return `the bus at ${url} offers no TLS, so nothing was sent to it: give it a certificate, or a nats:// address`;
  }
  if (/authorization|authentication/i.test(message)) {
    if (busMannerOf(url, inClear).signsIn) return `the bus at ${url} refused the credential of this node`;
    return (
      `the bus at ${url} asks for a credential, which this node sends over TLS alone: give the control plane a ` +
      'certificate (MESH_TLS_CERT), or start this node with --bus-in-clear'
    );
  }
  return `the bus at ${url} cannot be reached (${cause?.code ?? message})`;
}
