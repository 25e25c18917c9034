import type { Msg, NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { steadyNow } from '../nats/steady-clock.ts';
import { type BusAddress, connectionOptions } from './bus-address.ts';
import { type Claims, encodeJwt, readJwt } from './jwt.ts';
import type { SigningKey } from './nkey.ts';
import { ReconnectingConnection } from './reconnecting-connection.ts';
import { isSame, mergedRevocations, type Revocations } from './revocations.ts';

/**
 * Why servers may let in who was revoked: `lost` is the end of the one connection by which all are told, which is made again at
 * another server; with `unreached` there is none that lets it in; with `untold` the one that it is connected to did not pass it on.
 */
export interface RevocationProblem {
  readonly kind: 'lost' | 'unreached' | 'untold';
  readonly reason: string;
  /** The server, `host:port`, of the connection; undefined where there is none. */
  readonly server: string | undefined;
}

export interface AccountUpdateOptions {
  readonly place: BusAddress;
  /** The credentials of a user of the system account. */
  readonly signIn: () => Pick<NodeConnectionOptions, 'authenticator'>;
  /** Public key of the account that nodes are in. */
  readonly account: string;
  /** A key with which its operator signs accounts. */
  readonly operator: SigningKey;
  /** True if this process is the one that updates the servers. */
  readonly isInCharge: () => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** They may not know of all, for a new reason. */
  onTrouble(trouble: RevocationProblem): void;
  /** After that: all know, told by this server. */
  onTold(server: string): void;
}

/** A first revocation is told of after so long, and those that follow with it. */
const GATHER_MS = 20;
/** Servers that were away meanwhile are told by then, whatever else tells that they are back. */
const REPEAT_MS = 15_000;
const ANSWER_MS = 1_000;
/** Servers answer each for itself: after the first, so long is waited for another one. */
const MORE_MS = 150;
const RETRY_MS = 300;

/**
 * Keeps the account of the nodes told of who lost its place. What the servers hold is read first and only added to, so several
 * control planes do not undo each other's, whatever an operator changed in it stays, and what all know already changes nothing.
 */
export class AccountUpdates {
  readonly #options: AccountUpdateOptions;
  /** Until when (s) anything lives that it was given. */
  readonly #lost = new Map<string, number>();
  readonly #regained = new Set<string>();
  readonly #kept: ReconnectingConnection;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = 0;
  #round: Promise<void> | undefined;
  #isStopped = false;
  #problem: string | undefined = 'the servers have not been told yet';
  /** The last reported reason of each trouble that is not over, by its kind. */
  readonly #said = new Map<RevocationProblem['kind'], string>();
  #updates = 0;
  #revoked = 0;

  constructor(options: AccountUpdateOptions) {
    const { place, signIn } = options;
    this.#options = options;
    this.#kept = new ReconnectingConnection({
      servers: place.servers,
      follows: () => true,
      connecting: (servers) => ({
        ...connectionOptions(place, servers),
        ...signIn(),
        name: 'mesh revocations',
        timeout: ANSWER_MS,
        pingInterval: 5_000,
      }),
      firstRetryMs: 100,
      lastRetryMs: 2_000,
      onUp: () => this.#soon(),
      onDown: () => {},
      onServers: () => this.#soon(),
      onTrouble: (error, lost) => this.#failed(lost === undefined ? 'unreached' : 'lost', error, lost),
    });
  }

  /** Why servers may not know of all; undefined while they do. */
  get problem(): string | undefined {
    return this.#options.isInCharge() ? this.#problem : undefined;
  }

  get metrics() {
    return { updates: this.#updates, revoked: this.#revoked };
  }

  /** Revokes the credentials of a user until (ms) all of them have expired. */
  revoke(user: string, until: number): void {
    this.#regained.delete(user);
    this.#lost.set(user, Math.ceil(until / 1_000));
    this.#soon(GATHER_MS);
  }

  /** Takes a revocation back. */
  allow(user: string): void {
    if (this.#lost.delete(user)) this.#soon(GATHER_MS);
    this.#regained.add(user);
  }

  /** This process is in charge from now on, or not any more. */
  chargeChanged(): void {
    this.#soon();
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#round;
    await this.#kept.close();
  }

  #soon(ms = 0): void {
    const at = steadyNow() + ms;
    if (this.#isStopped || (this.#timer !== undefined && this.#dueAt <= at)) return;
    clearTimeout(this.#timer);
    this.#dueAt = at;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // Runs one round at a time; changes that come meanwhile go into the next.
      this.#round = (this.#round ?? Promise.resolve()).then(() => this.#run());
    }, ms);
  }

  async #run(): Promise<void> {
    const { connection } = this.#kept;
    if (this.#isStopped || !connection || !this.#options.isInCharge()) return;
    try {
      await this.#tell(connection);
      this.#over(connection.getServer());
      this.#soon(REPEAT_MS);
    } catch (error) {
      // Where the connection ended meanwhile, that is told by itself.
      if (!connection.isClosed()) this.#failed('untold', error, connection.getServer());
      this.#soon(RETRY_MS);
    }
  }

  async #tell(connection: NatsConnection): Promise<void> {
    const { account, operator, now } = this.#options;
    const answer = await connection.request(`$SYS.REQ.ACCOUNT.${account}.CLAIMS.LOOKUP`, '', { timeout: ANSWER_MS });
    const held = answer.string();
    const claims = readJwt(held);
    if (claims?.sub !== account) throw new Error(`they do not know the account ${account} of MESH_BUS_KEYS_FILE`);
    const nowS = Math.floor(now() / 1_000);
    this.#forget(nowS);
    const before = revocationsOf(claims);
    const wanted = mergedRevocations(before, this.#lost, this.#regained, nowS);
    this.#revoked = Object.keys(wanted).length;
    // As it is it is told again: to a server that was away it is new.
    if (isSame(before, wanted)) return announce(connection, held);
    // A control plane whose clock is behind still has the newest.
    const iat = Math.max(nowS, claims.iat + 1);
    await announce(connection, encodeJwt({ ...claims, iat, nats: { ...claims.nats, revocations: wanted } }, operator));
    this.#updates += 1;
  }

  #forget(nowS: number): void {
    for (const [user, until] of this.#lost) if (until < nowS) this.#lost.delete(user);
  }

  #failed(kind: RevocationProblem['kind'], error: unknown, server: string | undefined): void {
    if (this.#isStopped) return;
    const reason = error instanceof Error ? error.message : 'the server closed the connection';
    this.#problem = reason;
    // A process that is not in charge reports no trouble, and a reason that was reported already is not repeated.
    if (!this.#options.isInCharge() || this.#said.get(kind) === reason) return;
    this.#said.set(kind, reason);
    this.#options.onTrouble({ kind, reason, server });
  }

  #over(server: string): void {
    this.#problem = undefined;
    if (this.#said.size === 0) return;
    this.#said.clear();
    this.#options.onTold(server);
  }
}

function revocationsOf({ nats }: Claims): Revocations {
  return (nats['revocations'] as Revocations | undefined) ?? {};
}

/** @throws Error where no server takes it, or one refuses it */
async function announce(connection: NatsConnection, account: string): Promise<void> {
  const answers = await connection.requestMany('$SYS.REQ.CLAIMS.UPDATE', account, {
    strategy: 'stall',
    stall: MORE_MS,
    maxWait: ANSWER_MS,
  });
  let taken = 0;
  for await (const answer of answers) {
    const refusal = refusalIn(answer);
    if (refusal !== undefined) throw new Error(`a server refused the account: ${refusal}`);
    taken += 1;
  }
  if (taken === 0) throw new Error('no server took the account: their resolver has to be of the type full');
}

function refusalIn(answer: Msg): string | undefined {
  const { error } = answer.json<{ readonly error?: { readonly description?: string } }>();
  return error && (error.description ?? 'without a reason');
}
