import type { Quotas } from '../../base/quotas.ts';
import type { NetworkState } from '../../state/state.ts';
import type { OrderInput } from '../orders/order.ts';
import type { Expectation } from '../verify/expectation.ts';
import type { RiskLevel } from '../verify/risk-table.ts';
import type { OrderedInput } from './edits.ts';

/** A question to a planner. The intent, the history, and every name in the state are data, never instructions. */
export interface PlanQuestion {
  readonly intent: string;
  /** The network as the caller may see it. */
  readonly state: NetworkState;
  /** Milliseconds; for changes that end after a time. */
  readonly now: number;
  /** The zone whose clocks the days and times of the intent mean; UTC unless given. */
  readonly timeZone?: string;
  readonly signal: AbortSignal;
  /** The earlier questions of the caller in the same conversation, oldest first; none of them was necessarily carried out. */
  readonly history?: readonly string[];
  /**
   * Set when an earlier answer to this question did not hold. A planner that has nothing better answers `refused`, and
   * the earlier answer is shown as unverified.
   */
  readonly counterexample?: Counterexample;
  /** The expectations of the caller, which the plan must fulfill. */
  readonly expected?: readonly Expectation[];
  /** Requirements of the caller that must hold afterwards, among other things. */
  readonly hold?: readonly OrderInput[];
  /** Receives each request to a model, for the audit log. */
  readonly onCall?: (call: ModelCall) => void;
  /** Receives a sentence on the next stage. */
  readonly onStage?: (text: string) => void;
}

/** A request to a model, without a word of the question or the answer. */
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
  readonly orders: readonly OrderInput[];
  /** Why the changes cannot be made at all; then nothing else is known of them. */
  readonly impossible?: string;
  /** Objections to the answer, as sentences. */
  readonly objections: readonly string[];
  readonly warnings: readonly string[];
}

/** The target of a revert. Each goes through the same proof, effect and approval as any other plan. */
export type RevertTarget =
  /** Restores what the newest change of policies, networks or labels changed. */
  | { readonly to: 'before-last' }
  | { readonly to: 'revision'; readonly revision: number }
  | { readonly to: 'snapshot'; readonly id: string }
  /** Restores what one revision changed; only the records in `only`, where given. */
  | {
      readonly to: 'before-revision';
      readonly revision: number;
      readonly only?: readonly { readonly kind: string; readonly name: string }[];
    }
  /** Restores what a workflow changed. */
  | { readonly to: 'before-workflow'; readonly id: string };

/** An order of which only the certain parts are filled in: the others are empty, and `do` is left out. */
export interface DraftOrder extends Omit<OrderInput, 'do' | 'from' | 'to'> {
  readonly do?: OrderInput['do'];
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** The orders that were recognized in an intent, in the order of the sentence. */
export interface OrderDraft {
  readonly orders: readonly DraftOrder[];
  /** Words of the intent that were not read. */
  readonly unread?: readonly string[];
}

export type PlanAnswer =
  /** Code writes the policies that the orders need, as for a caller's own orders. */
  | (OrderedInput & {
      readonly outcome: 'orders';
      /** A model's own reading of the intent, which the plan is not checked against. */
      readonly selfAsserted?: true;
      /** The planner's own words on why; shown as such, decides nothing. */
      readonly reasoning?: string;
      /** The planner's own opinion; shown where it is graver than the computed one, decides nothing. */
      readonly risk?: RiskLevel;
      /** Notes for people, which leave nothing open. */
      readonly notes?: readonly string[];
      /** Assumptions that the planner would like confirmed. */
      readonly questions?: readonly string[];
    })
  /** "Undo the last change": the changes are found by the code that knows the past. */
  | { readonly outcome: 'revert'; readonly target: RevertTarget }
  /** Understood nothing, or not safely: says what it can do. Never a guess. */
  | {
      readonly outcome: 'refused';
      readonly reason: string;
      readonly questions: readonly string[];
      /** Whole intents that can be sent instead, as they are; their orders are those of the draft. */
      readonly choices: readonly string[];
      readonly draft?: OrderDraft;
      /** The reasons why another planner could not answer. */
      readonly warnings?: readonly string[];
    };

/** A computed plan as plain sentences of bounded number and length; names in them are data. */
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
  /** Shares of the sentences that it may read at once, where it may call a model over the network and wait for it. */
  readonly modelTurns?: Quotas;
  plan(question: PlanQuestion): Promise<PlanAnswer>;
  /** Returns the reading that is certain, at once and without a model; absent for a planner that is never certain. */
  certain?(question: Pick<PlanQuestion, 'intent' | 'state' | 'now' | 'timeZone'>): PlanAnswer | Promise<PlanAnswer>;
  /** The plan in its own words, for people; shown as such beside the computed text, never instead. Undefined: none. */
  wording?(view: WordingView, signal: AbortSignal, onCall?: PlanQuestion['onCall']): Promise<string | undefined>;
}
