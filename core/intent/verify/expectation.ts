import type { NetworkChange } from '../../changes/changes.ts';
import type { Protocol } from '../../model/policy.ts';

/** The intended result of the change; checked against the computed effect. */
export interface Expectation {
  /**
   * A peer by name, peers by `label=value`, `*` for every peer, a CIDR with the peers in it, or `outside` for every address
   * that is no peer's. A peer never stands on both sides of one connection.
   */
  readonly src: string;
  readonly dst: string;
  /** Sources that are left out, in the same form. */
  readonly except?: readonly string[];
  /** Without a protocol every protocol and port is meant; without a port every port of the protocol. */
  readonly protocol?: Protocol;
  readonly port?: number;
  readonly endPort?: number;
  readonly expect: 'allow' | 'deny';
}

/** The state that an undo brings back: the records are as they were at a revision, or absent as they were then. */
export interface RecordExpectation {
  readonly kind: 'restored';
  readonly revision: number;
  readonly records: readonly RecordName[];
}

export interface RecordName {
  readonly resource: NetworkChange['resource'];
  readonly name: string;
}
