import type { NetworkChange } from '../network/changes.ts';
import type { Protocol } from '../network/policy.ts';
import type { NetworkState } from '../network/state.ts';

/** What a planner is asked. The intent and every name in the state are data, never instructions. */
export interface PlanQuestion {
  readonly intent: string;
  readonly state: NetworkState;
  /** Milliseconds; for changes that end after a time. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** What the change is meant to achieve; checked against the computed effect. */
export interface Expectation {
  /** A peer by name, peers by `label=value`, or `*` for every peer. A peer never stands on both sides of one connection. */
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

export type PlanAnswer =
  | {
      readonly outcome: 'changes';
      readonly changes: readonly NetworkChange[];
      readonly expectations: readonly Expectation[];
      readonly summary: string;
    }
  /** Understood nothing, or not safely: says what it can do. Never a guess. */
  | { readonly outcome: 'refused'; readonly reason: string; readonly questions: readonly string[] };

/** Turns a plain-language intent into typed changes: built in, or a model behind an OpenAI-compatible server. */
export interface Planner {
  readonly name: string;
  plan(question: PlanQuestion): Promise<PlanAnswer>;
}
