import { formatHostPort } from '../../../net/host-port.ts';
import type { Endpoint } from '../../tunnel/tunnel.ts';
import type { Candidate } from './candidate.ts';

/** Addresses of one peer, those found by checks among them. */
export const MAX_REMOTES = 24;

/** An address of the peer, and what the checks of it found. */
export interface Remote extends Candidate {
  state: 'waiting' | 'checking' | 'succeeded' | 'failed';
  attempts: number;
  /** When the next check is due; undefined for none. */
  nextAt: number | undefined;
  sentAt: number;
  succeededAt: number;
  roundTripMs: number;
  /** Checks of full size without an answer since, in this try. */
  fullAttempts: number;
  /** When the next of them is due; undefined for none. */
  fullAt: number | undefined;
  /** When one was answered last. */
  carriedAt: number;
  /** The controlling side wants this one: as the other side said, or as this side says in its checks. */
  isNominated: boolean;
}

/** The addresses of one peer that a session knows. */
export class Remotes {
  readonly #isUsable: (endpoint: Endpoint) => boolean;
  readonly #byName = new Map<string, Remote>();

  constructor(isUsable: (endpoint: Endpoint) => boolean) {
    this.#isUsable = isUsable;
  }

  get all(): readonly Remote[] {
    return [...this.#byName.values()];
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  get bestFirst(): readonly Remote[] {
    return this.all.toSorted((a, b) => b.priority - a.priority);
  }

  /** When the next check of any is due. */
  get deadline(): number {
    let deadline = Number.POSITIVE_INFINITY;
    for (const { nextAt, fullAt } of this.#byName.values()) {
      deadline = Math.min(deadline, nextAt ?? Infinity, fullAt ?? Infinity);
    }
    return deadline;
  }

  /**
   * The address's entry, made if there is room. An address that was found by a check is no candidate the peer named: one that
   * failed may be replaced, unless it is `inUse`.
   */
  discover({ address, port, type, priority }: Candidate, inUse: Remote | undefined): Remote | undefined {
    const name = nameOf({ address, port });
    const known = this.#byName.get(name);
    if (known) return known;
    if (!this.#isUsable({ address, port })) return undefined;
    if (this.#byName.size >= MAX_REMOTES) {
      const idle = this.all.find((remote) => remote.type === 'prflx' && remote !== inUse && remote.state === 'failed');
      if (idle === undefined) return undefined;
      this.#byName.delete(nameOf(idle));
    }
    const remote: Remote = {
      address,
      port,
      type,
      priority,
      state: 'waiting',
      attempts: 0,
      nextAt: undefined,
      sentAt: Number.NEGATIVE_INFINITY,
      succeededAt: Number.NEGATIVE_INFINITY,
      roundTripMs: 0,
      fullAttempts: 0,
      fullAt: undefined,
      carriedAt: Number.NEGATIVE_INFINITY,
      isNominated: false,
    };
    this.#byName.set(name, remote);
    return remote;
  }

  /** This one and no other; none at all without. */
  nominate(remote?: Remote): void {
    for (const each of this.#byName.values()) each.isNominated = each === remote;
  }

  /** No more checks, until something asks for them. */
  rest(): void {
    for (const remote of this.#byName.values()) {
      remote.nextAt = undefined;
      remote.fullAt = undefined;
    }
  }

  /** Nothing better may still succeed. */
  isBest(remote: Remote): boolean {
    return this.all.every((each) => each === remote || each.state === 'failed' || each.priority <= remote.priority);
  }
}

function nameOf({ address, port }: Endpoint): string {
  return formatHostPort(address, port);
}
