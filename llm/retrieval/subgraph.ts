import type { PolicySpec } from '../../core/model/policy.ts';

/** The part of a network that an intent needs, as plain data of bounded size; the most relevant comes first. */
export interface Subgraph {
  readonly peers: readonly SubgraphPeer[];
  readonly labels: readonly SubgraphLabel[];
  readonly policies: readonly SubgraphPolicy[];
  readonly networks: readonly SubgraphNetwork[];
  /** Ranges that the intent, the networks or the policies name. */
  readonly cidrs: readonly string[];
  /** `key=value` that the intent writes and no peer carries yet. */
  readonly newLabels: readonly string[];
  /** How many there are besides. */
  readonly leftOut: {
    readonly peers: number;
    readonly labels: number;
    readonly policies: number;
    readonly networks: number;
  };
}

export interface SubgraphPeer {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly moreLabels?: number;
  readonly network: string;
  readonly address?: string;
  readonly pending?: true;
}

export interface SubgraphLabel {
  /** `key=value`. */
  readonly label: string;
  /** How many carry it. */
  readonly peers: number;
}

export interface SubgraphPolicy {
  readonly name: string;
  readonly action: PolicySpec['action'];
  /** Absent where it is too long to be shown: then it can be deleted, but not rewritten. */
  readonly spec?: PolicySpec;
}

export interface SubgraphNetwork {
  readonly name: string;
  readonly cidr: string;
  readonly defaultAction: 'ALLOW' | 'DENY';
}

/** Entries of each kind; all of them together are fewer than the enumerations that a strict schema may have. */
export const SUBGRAPH_LIMITS = { peers: 40, labels: 60, policies: 24, networks: 8, cidrs: 16, newLabels: 8 } as const;

/** Bytes of JSON of each kind. */
const BYTES = { peers: 8_000, labels: 4_000, policies: 12_000, networks: 1_500 } as const;
export const MAX_SUBGRAPH_BYTES = 28_000;

/** The first entries whose JSON fits. An entry that does not is passed over, so that one giant hides nothing else. */
export function fitting<T>(kind: keyof typeof BYTES, entries: Iterable<T>): T[] {
  const chosen: T[] = [];
  let left = BYTES[kind];
  for (const entry of entries) {
    if (chosen.length >= SUBGRAPH_LIMITS[kind]) break;
    const bytes = JSON.stringify(entry).length + 1;
    if (bytes > left) continue;
    left -= bytes;
    chosen.push(entry);
  }
  return chosen;
}
