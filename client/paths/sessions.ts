import type { Endpoint } from '../tunnel/tunnel.ts';
import type { IceMessage, IceRole } from './ice/check-message.ts';
import { Pacer } from './ice/pacer.ts';
import { IceSession } from './ice/session.ts';
import type { IceEvents, IceSessionOptions } from './ice/session-options.ts';
import { sessionNumberOf } from './ice/transactions.ts';

/** RFC 8445 section 14: all checks of this node together, apart from consent. */
const CHECKS_PER_SECOND = 400;
const CHECK_BURST = 20;
/** Under traffic, and how much rarer it gets for each further pair with traffic. */
const CONSENT_MS = 200;
const CONSENT_PER_ACTIVE_PAIR_MS = 4;
const MAX_CONSENT_MS = 1_000;
const MAX_NUMBER = 0xfffffffe;
const UFRAG_BYTES = 6;
const PWD_BYTES = 18;

interface SessionsOptions {
  readonly random: (bytes: number) => Uint8Array;
  readonly isUsable: (endpoint: Endpoint) => boolean;
}

/** A session and the peer it belongs to. */
interface OwnedSession {
  readonly session: IceSession;
  readonly publicKey: string;
}

/** The ICE sessions of this node: they share one rate of checks, and are found by what a message names. */
export class Sessions {
  /** Pairs with traffic. */
  activePairs = 0;
  readonly #options: SessionsOptions;
  readonly #pacer = new Pacer(CHECKS_PER_SECOND, CHECK_BURST);
  readonly #byNumber = new Map<number, OwnedSession>();
  readonly #byUfrag = new Map<string, OwnedSession>();
  #nextNumber = 1;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  open(
    publicKey: string,
    role: IceRole,
    tieBreaker: bigint,
    { hasOtherPath, ...events }: IceEvents & Pick<IceSessionOptions, 'hasOtherPath'>,
  ): IceSession {
    const { random, isUsable } = this.#options;
    const number = this.#nextNumber;
    this.#nextNumber = (number % MAX_NUMBER) + 1;
    const session = new IceSession({
      number,
      role,
      local: { ufrag: textOf(random(UFRAG_BYTES)), pwd: textOf(random(PWD_BYTES)) },
      tieBreaker,
      random,
      pacer: this.#pacer,
      consentInterval: () =>
        Math.min(MAX_CONSENT_MS, Math.max(CONSENT_MS, this.activePairs * CONSENT_PER_ACTIVE_PAIR_MS)),
      hasOtherPath,
      isUsable,
      events,
    });
    const owned = { session, publicKey };
    this.#byNumber.set(number, owned);
    this.#byUfrag.set(session.local.ufrag, owned);
    return session;
  }

  close(session: IceSession): void {
    this.#byNumber.delete(session.number);
    this.#byUfrag.delete(session.local.ufrag);
  }

  /** The session that a message is for. */
  of(message: IceMessage): OwnedSession | undefined {
    switch (message.kind) {
      case 'check':
      case 'lost':
        return this.#byUfrag.get(message.ufrags[0]);
      case 'success':
      case 'role-conflict':
        return this.#byNumber.get(sessionNumberOf(message.transactionId));
      default:
        return message satisfies never;
    }
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
