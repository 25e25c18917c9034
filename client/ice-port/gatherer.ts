import { decodeXorAddress } from '../../net/stun/address.ts';
import { ATTRIBUTES, BINDING, encodeStun, type StunMessage, TRANSACTION_ID_BYTES } from '../../net/stun/message.ts';
import { formatIp } from '../../platform/ip.ts';
import type { Family } from '../family.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';

/** RFC 8489 section 6.2.1, cut short: a server that is there answers one of these. */
const RETRY_MS = [300, 700, 1_500] as const;
/** How long before a mapping is asked for again. Routers forget an unused one after 30 s and more. */
const REFRESH_MS = 25_000;
/** Waits after nobody answered. */
const SILENT_RETRY_MS = [2_000, 5_000, 10_000, 25_000] as const;

interface Question {
  readonly transactionId: Uint8Array;
  attempts: number;
  nextAt: number;
}

/** Asks STUN servers how the world sees the shared port, one family at a time. No socket, no clock. */
export class Gatherer {
  readonly #random: (bytes: number) => Uint8Array;
  readonly #servers = new Map<Family, readonly Endpoint[]>();
  readonly #questions = new Map<Family, Question>();
  readonly #mapped = new Map<Family, Endpoint>();
  readonly #silences = new Map<Family, number>();
  readonly #askAt = new Map<Family, number>();

  constructor(random: (bytes: number) => Uint8Array) {
    this.#random = random;
  }

  /** Public address and port, as last seen from outside. */
  get mapped(): Readonly<Record<Family, Endpoint | null>> {
    return { ipv4: this.#mapped.get('ipv4') ?? null, ipv6: this.#mapped.get('ipv6') ?? null };
  }

  /** Addresses of the servers of one family, all asked at once. */
  setServers(family: Family, servers: readonly Endpoint[], now: number): void {
    this.#servers.set(family, servers);
    this.#ask(family, now);
  }

  /** Something changed: asks again. */
  refresh(now: number): void {
    for (const family of this.#servers.keys()) this.#ask(family, now);
  }

  get deadline(): number {
    return Math.min(Infinity, ...[...this.#questions.values()].map(({ nextAt }) => nextAt), ...this.#askAt.values());
  }

  /** Returns the datagrams to send now, and whether a mapping was given up. */
  tick(now: number): { readonly send: readonly { to: Endpoint; bytes: Uint8Array }[]; readonly isChanged: boolean } {
    const send: { to: Endpoint; bytes: Uint8Array }[] = [];
    let isChanged = false;
    for (const [family, at] of this.#askAt) if (now >= at) this.#ask(family, now);
    for (const [family, question] of this.#questions) {
      if (now < question.nextAt) continue;
      const wait = RETRY_MS[question.attempts];
      if (wait === undefined) {
        isChanged = this.#silent(family, now) || isChanged;
        continue;
      }
      question.attempts += 1;
      question.nextAt = now + wait;
      const { transactionId } = question;
      const bytes = encodeStun({ class: 'request', method: BINDING, transactionId, attributes: [] });
      for (const to of this.#servers.get(family) ?? []) send.push({ to, bytes });
    }
    return { send, isChanged };
  }

  /** @returns undefined when the message answers no question of ours, else whether the mapping changed */
  receive(message: StunMessage, now: number): boolean | undefined {
    if (message.class !== 'success') return undefined;
    for (const [family, { transactionId }] of this.#questions) {
      if (Buffer.compare(transactionId, message.transactionId) !== 0) continue;
      const value = message.attributes.find(({ type }) => type === ATTRIBUTES.xorMappedAddress)?.value;
      const found = value && decodeXorAddress(value, transactionId);
      if (!found) return false;
      this.#questions.delete(family);
      this.#silences.delete(family);
      this.#askAt.set(family, now + REFRESH_MS);
      const before = this.#mapped.get(family);
      const mapped = { address: formatIp(found.ip), port: found.port };
      this.#mapped.set(family, mapped);
      return before?.address !== mapped.address || before.port !== mapped.port;
    }
    return undefined;
  }

  #ask(family: Family, now: number): void {
    this.#askAt.delete(family);
    if ((this.#servers.get(family) ?? []).length === 0) {
      this.#questions.delete(family);
      return;
    }
    const transactionId = Uint8Array.from(this.#random(TRANSACTION_ID_BYTES));
    this.#questions.set(family, { transactionId, attempts: 0, nextAt: now });
  }

  /** @returns whether a mapping was given up */
  #silent(family: Family, now: number): boolean {
    this.#questions.delete(family);
    const silences = this.#silences.get(family) ?? 0;
    this.#silences.set(family, silences + 1);
    this.#askAt.set(family, now + (SILENT_RETRY_MS[Math.min(silences, SILENT_RETRY_MS.length - 1)] ?? REFRESH_MS));
    // A single round may be lost; two mean that it is no longer known.
    return silences >= 1 && this.#mapped.delete(family);
  }
}
