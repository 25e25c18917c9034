import { RESERVED_LABEL_PREFIX } from '../identity/presets.ts';
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

/** Labels that the control plane alone sets never come with a token, whoever made it. */
export function joinEnrolment({ spec }: TokenRecord): Enrolment {
  const own = Object.entries(spec.labels).filter(([key]) => !key.startsWith(RESERVED_LABEL_PREFIX));
  return { labels: Object.fromEntries(own), network: spec.network ?? DEFAULT_NETWORK, ops: [] };
}
