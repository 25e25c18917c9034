import type { Authenticator } from '@nats-io/transport-node';
import type { Log } from '../../core/base/ports.ts';
import type { SigningKey } from '../../net/bus/nkey.ts';
import { ReconnectingConnection } from '../../net/bus/reconnecting-connection.ts';
import type { Addresses } from '../lookup.ts';
import { busMannerOf, placesOf } from './bus-address.ts';

/** Everything that this node needs of the bus. */
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

export interface BusSignIn {
  /** For the bus of a control plane: sent where it may be. */
  readonly secret: string;
  /** For servers that know nodes by a key, in place of the secret: whoever hears it has no use of it. */
  readonly jwt?: string;
  readonly key?: SigningKey;
}

export interface BusOptions {
  /** nats://host:port, or tls://host:port where there has to be TLS. */
  readonly url: string;
  /** Read at each connect: a key rotation changes it. */
  readonly signIn: () => BusSignIn;
  /** The secret is sent to a bus elsewhere without TLS too. */
  readonly inClear: boolean;
  /** Finds the bus while DNS is away; left out: nothing does. */
  readonly addresses?: Addresses;
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
/** Ten thousand nodes that lost a bus together come back to it a thousand a second. */
const LAST_RETRY_MS = 10_000;
/** Two missed answers end a connection: a dead path is noticed within a minute. */
const PING_MS = 20_000;
/** The answer of a connection that something speaks against. */
const SUSPECT_MS = 500;

/** Connects, and again for ever, with back-off and jitter. */
export function openBus(options: BusOptions): Bus {
  const { url, log, waitMs, addresses } = options;
  let trouble = 'connecting';
  let told = '';
  // Servers that let everybody in refuse who signs in with what they do not know.
  let isAsked = true;
  const kept = new ReconnectingConnection({
    servers: [url],
    follows: (server) => options.signIn().jwt !== undefined || busMannerOf(url, options.inClear, []).follows(server),
    ...(addresses && { find: (servers) => placesOf(servers, addresses) }),
    firstRetryMs: FIRST_RETRY_MS,
    lastRetryMs: LAST_RETRY_MS,
    connecting: (servers) => {
      const { tls, signsIn } = busMannerOf(url, options.inClear, servers);
      const { secret, jwt, key } = options.signIn();
      return {
        ...(jwt !== undefined && key && { authenticator: provenBy(jwt, key) }),
        ...(jwt === undefined && signsIn && isAsked && { token: secret }),
        ...(tls && { tls }),
        inboxPrefix: options.inboxPrefix,
        timeout: waitMs,
        pingInterval: PING_MS,
      };
    },
    onUp(connection) {
      for (const subject of options.subjects) {
        connection.subscribe(subject, {
          callback: (error, message) => {
            if (error) log.debug({ error: String(error) }, 'the bus refused a subscription');
            else options.onMessage({ subject: message.subject, data: message.data });
          },
        });
      }
      trouble = '';
      told = '';
      log.info({}, `connected to the bus at ${url}`);
      log.debug({ server: connection.getServer() }, 'the server of the bus');
      options.onUp();
    },
    onDown: () => options.onDown(),
    onTrouble(error) {
      if (isRefusal(error)) isAsked = !isAsked;
      trouble = error ? explain(error, options) : `the bus at ${url} closed the connection`;
      // An outage is said once, not at every attempt.
      if (trouble !== told) {
        log.warn({}, `${trouble}; trying again`);
        options.onTrouble();
      }
      told = trouble;
    },
  });
  return {
    get isUp() {
      return kept.connection !== undefined;
    },
    get trouble() {
      return trouble;
    },
    publish(subject, payload) {
      try {
        kept.connection?.publish(subject, payload);
      } catch (error) {
        log.debug({ error: String(error) }, 'the bus took no message');
      }
    },
    async request(subject, payload, timeoutMs) {
      if (!kept.connection) throw new Error(trouble);
      const answer = await kept.connection.request(subject, payload, { timeout: timeoutMs });
      return { subject: answer.subject, data: answer.data };
    },
    networkChanged() {
      kept.retryNow();
      const suspected = kept.connection;
      if (!suspected) return;
      const isLate = setTimeout(
        () => kept.abandon(suspected, new Error('the network of this host changed')),
        SUSPECT_MS,
      );
      suspected
        .rtt()
        .then(() => clearTimeout(isLate))
        .catch(() => undefined);
    },
    close: () => kept.close(),
  };
}

/** The server asks for a signature over what it has just made up. */
function provenBy(jwt: string, key: SigningKey): Authenticator {
  return (nonce = '') => ({ jwt, sig: Buffer.from(key.sign(Buffer.from(nonce))).toString('base64url') });
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && /authorization|authentication/i.test(error.message);
}

function explain(error: unknown, { url, waitMs, inClear, signIn }: BusOptions): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string } };
  if (name === 'TimeoutError' || /timeout/i.test(message)) {
    return `the bus at ${url} did not answer within ${waitMs / 1_000} s (--bus-wait)`;
  }
  if (/does not support 'tls'/.test(message)) {
    return `the bus at ${url} offers no TLS, so nothing was sent to it: give it a certificate, or a nats:// address`;
  }
  if (isRefusal(error)) {
    if (signIn().jwt !== undefined || busMannerOf(url, inClear, []).signsIn)
      return `the bus at ${url} refused the credential of this node`;
    return (
      `the bus at ${url} asks for a credential, which this node sends over TLS alone: give the control plane a ` +
      'certificate (MESH_TLS_CERT), or start this node with --bus-in-clear'
    );
  }
  return `the bus at ${url} cannot be reached (${cause?.code ?? message})`;
}
