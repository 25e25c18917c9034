import { parseIp } from '../../platform/ip.ts';
import { hostOf, siteOf } from '../source-networks.ts';
import { ConnectionSlots } from './connection-slots.ts';
import type { RelayLimits } from './limits.ts';
import type { RelaySession } from './session.ts';

/** Connections in their handshake. Both ways in answer whose place was needed: that one has to end. */
export class PendingHandshakes {
  /** Connections of which nothing is known yet. */
  readonly #strangers: ConnectionSlots<RelaySession>;
  /**
   * Connections that showed a credential and have to prove that it is theirs, by the key in it: no stranger pushes them out.
   */
  readonly #claimants: ConnectionSlots<RelaySession>;

  constructor({ unproven, maxSessions, maxHandshakesPerKey }: RelayLimits) {
    this.#strangers = new ConnectionSlots(unproven);
    this.#claimants = new ConnectionSlots({
      total: maxSessions,
      perHost: maxHandshakesPerKey,
      perSite: maxHandshakesPerKey,
    });
  }

  add(session: RelaySession, source: string): RelaySession | undefined {
    const ip = parseIp(source);
    return this.#strangers.add(session, ip ? { host: hostOf(ip), site: siteOf(ip) } : { host: source, site: source });
  }

  /** The control plane issued a credential for this key, and the session showed it. */
  showedCredential(session: RelaySession, publicKey: Uint8Array): RelaySession | undefined {
    const key = Buffer.from(publicKey).toString('base64');
    this.#strangers.remove(session);
    return this.#claimants.add(session, { host: key, site: key });
  }

  /** Idempotent. */
  remove(session: RelaySession): void {
    this.#strangers.remove(session);
    this.#claimants.remove(session);
  }
}
