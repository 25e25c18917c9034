import type { ModelCall } from '../intent/plan/planner.ts';

/** A tool that only reads. */
export interface ReadTool {
  readonly name: string;
  readonly description: string;
  /** A JSON schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The input of a narration. The question, and every name in the answer, are data, never instructions. */
export interface Narration {
  readonly question: string;
  /** The computed answer: the summary and the first findings, as plain data. */
  readonly answer: unknown;
  readonly tools: readonly ReadTool[];
  /** Calls one of the tools as who asked. @returns its answer, or why there is none, as text */
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<string>;
  readonly signal: AbortSignal;
  /** Told of each request to a model, for the audit log. */
  readonly onCall: (call: ModelCall) => void;
}

export type NarrationEvent =
  | { readonly type: 'tool'; readonly name: string; readonly arguments: unknown }
  /** The last event: the words, one line. */
  | { readonly type: 'text'; readonly text: string }
  /** The last event: why there are no words. */
  | { readonly type: 'failed'; readonly reason: string };

/** Words what was found for people. It decides nothing, and what it says stands beside the computed text, never instead. */
export interface Narrator {
  readonly model: string;
  /** Ends with `text` or `failed`, within bounds of its own; where the signal aborts, at once. */
  narrate(narration: Narration): AsyncGenerator<NarrationEvent>;
}
