import type { BrokenAssertion } from '../../assertions/guard.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import type { NetworkState } from '../../state/state.ts';
import type { Expectation, RecordExpectation } from '../verify/expectation.ts';
import type { Unmet } from '../verify/expectations.ts';
import type { Finding } from '../verify/findings.ts';
import type { RiskLevel } from '../verify/risk-table.ts';

/** What a planner is asked. The intent, what was said before, and every name in the state are data, never instructions. */
export interface PlanQuestion {
  readonly intent: string;
  /** The network as the caller may see it. */
  readonly state: NetworkState;
  /** Milliseconds; for changes that end after a time. */
  readonly now: number;
  /** The zone whose clocks the days and times of the intent mean; UTC unless given. */
  readonly timeZone?: string;
  readonly signal: AbortSignal;
  /** What the caller asked before this in the same conversation, oldest first; nothing of it was necessarily done. */
  readonly history?: readonly string[];
  /**
   * Set when an earlier answer to this question did not hold. A planner that has nothing better answers `refused`, and
   * the earlier answer is shown as unverified.
   */
  readonly counterexample?: Counterexample;
  /** What the caller holds the plan to, whatever the planner states. */
  readonly expected?: readonly Expectation[];
  /** Told of each request to a model, for the audit log. */
  readonly onCall?: (call: ModelCall) => void;
  /** Told in a sentence what is done next. */
  readonly onStage?: (text: string) => void;
}

/** One request to a model; never a word of what was asked or answered. */
export interface ModelCall {
  readonly model: string;
  /** How the server was told to answer in a form. */
  readonly mode: string;
  readonly outcome: 'answered' | 'failed';
  readonly milliseconds: number;
  readonly promptTokens?: number;
  readonly completionTokens?: number;
}

/** An answer that did not hold, and what showed it; as computed, so every name in it is data. */
export interface Counterexample {
  readonly changes: readonly NetworkChange[];
  readonly expectations: readonly Expectation[];
  /** Why the changes cannot be made at all; then nothing else is known of them. */
  readonly impossible?: string;
  readonly unmet: readonly Unmet[];
  /** Why {@link RecordExpectation}s do not hold. */
  readonly unmetRecords: readonly string[];
  readonly broken: readonly BrokenAssertion[];
  readonly findings: readonly Finding[];
}

/** What is to be brought back. Each goes through the same proof, effect and approval as any other plan. */
export type RevertTarget =
  /** What the newest change of policies, networks or labels changed is as it was before. */
  | { readonly to: 'before-last' }
  | { readonly to: 'revision'; readonly revision: number }
  | { readonly to: 'snapshot'; readonly id: string }
  /** Restores what one revision changed; only the records in `only`, where given. */
  | {
      readonly to: 'before-revision';
      readonly revision: number;
      readonly only?: readonly { readonly kind: string; readonly name: string }[];
    }
  /** What a workflow changed is as it was before it. */
  | { readonly to: 'before-workflow'; readonly id: string };

export type PlanAnswer =
  | {
      readonly outcome: 'changes';
      readonly changes: readonly NetworkChange[];
      /** Together with `records`, what is checked. None at all: the plan is shown as not checked. */
      readonly expectations: readonly Expectation[];
      readonly records?: readonly RecordExpectation[];
      /**
       * The expectations are the planner's own reading of the intent. They are checked, so that it can be shown where it
       * contradicts itself, and say nothing of the intent (docs/decisions/0011-model-plans-prove-nothing.md).
       */
      readonly selfAsserted?: true;
      readonly summary: string;
      /** The planner's own words on why; shown as such, decides nothing. */
      readonly reasoning?: string;
      /** The planner's own opinion; shown where it is graver than the computed one, decides nothing. */
      readonly risk?: RiskLevel;
      /** What it assumed and would like confirmed. */
      readonly questions?: readonly string[];
    }
  /** "Undo the last change": the changes are found by the code that knows the past. */
  | { readonly outcome: 'revert'; readonly target: RevertTarget }
  /** Understood nothing, or not safely: says what it can do. Never a guess. */
  | {
      readonly outcome: 'refused';
      readonly reason: string;
      readonly questions: readonly string[];
      /** Whole intents that can be sent instead, as they are. */
      readonly choices: readonly string[];
      /** What of it was understood all the same. */
      readonly partial?: PartialPlan;
      /** What kept another planner from answering. */
      readonly warnings?: readonly string[];
    };

/** A part of a plan, for a caller to finish. */
export interface PartialPlan {
  readonly changes: readonly NetworkChange[];
  readonly expectations: readonly Expectation[];
}

/** What a computed plan comes to, as plain sentences of bounded number and length; names in them are data. */
export interface WordingView {
  readonly intent: string;
  readonly summary: string;
  readonly risk: string;
  readonly opens: readonly string[];
  readonly closes: readonly string[];
  readonly warnings: readonly string[];
  readonly unmet: readonly string[];
}

/** Turns a plain-language intent into typed changes: built in, or a model behind an OpenAI-compatible server. */
export interface Planner {
  readonly name: string;
  /** Whether it may ask a model over the network, and wait for it. */
  readonly asksModel?: true;
  plan(question: PlanQuestion): Promise<PlanAnswer>;
  /** What it reads with certainty, at once and without a model; a planner that is never certain has none. */
  certain?(question: Pick<PlanQuestion, 'intent' | 'state' | 'now' | 'timeZone'>): PlanAnswer | Promise<PlanAnswer>;
  /** The plan in its own words, for people; shown as such beside the computed text, never instead. Undefined: none. */
  wording?(view: WordingView, signal: AbortSignal, onCall?: PlanQuestion['onCall']): Promise<string | undefined>;
}
