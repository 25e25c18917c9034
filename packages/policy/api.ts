/** Describes the package; it imports nothing, so that its declarations stand alone. */

/** A document as `mesh export` writes it and `mesh apply` takes it. */
export interface MeshDocument {
  readonly apiVersion: 'mesh.internal/v1alpha1';
  readonly kind: 'MeshNetwork' | 'MeshPeer' | 'MeshPolicy' | 'WorkloadRule';
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> | undefined };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>> | undefined;
}

export interface PolicyOptions {
  /** The instant at which policies and peers count, milliseconds since the epoch; left out: now. */
  readonly now?: number;
}

export type Protocol = 'TCP' | 'UDP' | 'SCTP' | 'ICMP';

/** Ports of one protocol, both ends included; ICMP has no `from` and `to`. */
export interface PortRange {
  readonly protocol: Protocol;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** `ALL`, or the ports that are allowed; an empty list allows nothing. */
export type AllowedPorts = 'ALL' | readonly PortRange[];

/** A pair of peers, and what is asked of it: one port (of TCP, unless `protocol` is said), one protocol, or everything. */
export interface Query {
  readonly src: string;
  readonly dst: string;
  readonly protocol?: Protocol | undefined;
  readonly port?: number | undefined;
}

/** Whether all, a part or nothing of what is asked is allowed. */
export type Verdict = 'reachable' | 'partial' | 'unreachable';

/** The rule or state that decides one stage, as the REST API spells it. */
export interface Reason {
  readonly stage: 'known' | 'approved' | 'not_expired' | 'same_network' | 'delegation_bound' | 'egress' | 'ingress';
  readonly direction: 'egress' | 'ingress' | null;
  /** One of docs/policy.md#reasons-and-warnings, such as `ALLOWED_BY_RULE` or `INGRESS_ISOLATED`. */
  readonly reason_code: string | null;
  /** Name of the policy that decides; null where none does. */
  readonly policy: string | null;
  /** Place of the rule in the `ingress` or `egress` of the policy, from 0. */
  readonly rule_index: number | null;
}

export interface Step extends Reason {
  readonly result: 'pass' | 'partial' | 'fail';
  /** The peer that the stage is about. */
  readonly subject: string;
}

export interface Explanation {
  readonly verdict: Verdict;
  /** The allowed part of what is asked. */
  readonly allowed: AllowedPorts;
  /** The stages of the decision in their order, up to the first that fails before policies count. */
  readonly steps: readonly Step[];
  /** Everything that refuses, the deciding one first; empty where all is allowed. */
  readonly blocked_by: readonly Reason[];
}

/** An ordered pair of peers between which something is allowed: `src` opens, replies follow. */
export interface Connection {
  readonly src: string;
  readonly dst: string;
  readonly allowed: AllowedPorts;
}

/** An expectation: `allow` needs all of what is asked to be allowed, `deny` needs nothing of it to be. */
export interface Assertion extends Query {
  readonly expect: 'allow' | 'deny';
}

export interface AssertionResult extends Assertion {
  /** False too for a name that is not there, so that a misspelt `deny` is seen. */
  readonly pass: boolean;
  readonly verdict: Verdict;
  readonly reason_code: string | null;
  readonly policy: string | null;
  readonly rule_index: number | null;
}

/** The networks, peers and policies of some documents, compiled. */
export interface PolicyNetwork {
  /** Names of the peers, in the order of the documents. */
  readonly peers: readonly string[];
  /** Says whether `src` may open this to `dst`, and which rules decide. @throws PolicyError for a query that does not fit */
  explain(query: Query): Explanation;
  /** Every connection that is not fully denied, one by one. */
  connections(): Generator<Connection>;
  /** Checks expectations, each on its own. @throws PolicyError for one that does not fit */
  check(assertions: readonly Assertion[]): AssertionResult[];
}

/** Connections that change alike: every `src` to every `dst` other than itself. */
export interface ConnectionChange {
  readonly change: 'opened' | 'closed';
  /** Names of peers; blocks of addresses (`203.0.113.0/24`, `outside`) where the other side are peers. */
  readonly src: readonly string[];
  readonly dst: readonly string[];
  /** In words: `TCP 5432`, `TCP 8000-8100, all UDP`, `everything`. */
  readonly ports: string;
}

export interface Comparison {
  /** What opens first. */
  readonly connections: readonly ConnectionChange[];
  /** Entries left out, where those that are there name 50,000 peers already. */
  readonly omitted: number;
  /** False where policies name too many blocks of addresses outside to compare them: `connections` has peers alone then. */
  readonly comparesOutside: boolean;
}

/** A wrong field, and what to do about it. */
export interface FieldFault {
  /** JSON pointer (RFC 6901) into the document. */
  readonly pointer: string;
  readonly detail: string;
  /** The document that has it, where there are several. */
  readonly document?: { readonly kind: string; readonly name: string } | undefined;
}
