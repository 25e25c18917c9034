import type { TokenRecord } from '../identity/token-record.ts';
import type { Op } from '../ports.ts';
import { DEFAULT_NETWORK } from './resources.ts';

/** What a join or delegate token makes of the device that spends it. */
export interface Enrolment {
  /** Labels come from the maker of the token, never from the node. */
  readonly labels: Readonly<Record<string, string>>;
  readonly network: string;
  readonly agentRef?: string;
  /** ISO 8601; the peer ends then. */
  readonly expiresAt?: string;
  /** Committed together with the peer, or nothing is. */
  readonly ops: readonly Op[];
  readonly agentToken?: string;
}

export function joinEnrolment({ spec }: TokenRecord): Enrolment {
  return { labels: spec.labels, network: spec.network ?? DEFAULT_NETWORK, ops: [] };
}
