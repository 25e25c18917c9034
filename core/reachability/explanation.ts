import type { PolicySpec, PortEntry, Protocol } from '../model/policy.ts';
import type { Direction } from './model.ts';
import { type AllowedPorts, NO_PORTS, type PortSetId } from './port-sets.ts';
import type { ReasonCode, Stage } from './reasons.ts';

/** A pair, and what is asked of it: one port, one protocol, or everything. */
export interface ConnectivityQuery {
  readonly src: string;
  readonly dst: string;
  readonly protocol?: Protocol | undefined;
  readonly port?: number | undefined;
}

/** A port alone is a TCP port. */
export function withProtocol<Q extends Pick<ConnectivityQuery, 'protocol' | 'port'>>(query: Q): Q {
  return query.port === undefined || query.protocol !== undefined ? query : { ...query, protocol: 'TCP' };
}

export type Verdict = 'reachable' | 'unreachable' | 'partial';

/** A stage of the decision. `policy` and `rule_index` name what decided it, where one policy did. */
export interface Step {
  readonly stage: Stage;
  readonly direction: Direction | null;
  readonly result: 'pass' | 'fail' | 'partial';
  readonly reason_code: ReasonCode | null;
  /** The endpoint the stage is about. */
  readonly subject: string;
  readonly policy: string | null;
  readonly rule_index: number | null;
}

export interface Blocker {
  readonly stage: Stage;
  readonly direction: Direction | null;
  readonly reason_code: ReasonCode;
  readonly policy: string | null;
  readonly rule_index: number | null;
}

/**
 * A fix for one obstacle: a policy for these two alone, or an exception for them in a rule. All fixes together open the
 * connection asked for.
 */
export type Fix =
  | { readonly change: 'add_policy'; readonly policy: null; readonly direction: Direction; readonly spec: PolicySpec }
  | {
      readonly change: 'spare_pair';
      readonly policy: string;
      readonly direction: Direction;
      readonly rule_index: number;
      /** Ports of the rule that were not asked about: on them it stays. */
      readonly keeps: readonly PortEntry[];
    };

export interface Explanation {
  readonly verdict: Verdict;
  readonly steps: readonly Step[];
  /** The allowed part of the question. */
  readonly allowed: AllowedPorts;
  readonly blocked_by: readonly Blocker[];
  readonly would_fix: readonly Fix[];
}

/** The result of one stage. */
export interface Finding {
  readonly step: Step | undefined;
  readonly blockers: readonly Blocker[];
  readonly fixes: readonly Fix[];
}

export function pass(stage: Stage, subject: string): Step {
  return { stage, direction: null, result: 'pass', reason_code: null, subject, policy: null, rule_index: null };
}

export function fail(stage: Stage, subject: string, reason_code: ReasonCode): Step {
  return { ...pass(stage, subject), result: 'fail', reason_code };
}

export function blockerOf({ stage, direction, reason_code, policy, rule_index }: Step): Blocker {
  return { stage, direction, reason_code: reason_code ?? 'PEER_NOT_FOUND', policy, rule_index };
}

/** Returns whether all, part or none of the question passes a stage. */
export function resultOf(granted: PortSetId, scope: PortSetId): Step['result'] {
  return granted === NO_PORTS ? 'fail' : granted === scope ? 'pass' : 'partial';
}
