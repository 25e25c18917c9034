import type { Face } from '../base/operation.ts';

/** A call of an agent or of a program, as it is kept to be read back. Holds no secret. */
export interface TracedCall {
  /** Rises with each call of this process. */
  readonly seq: number;
  /** When it ended, ms. */
  readonly at: number;
  readonly operation: string;
  readonly face: Face;
  /** `ok`, `pending_approval`, or the code of the problem. */
  readonly outcome: string;
  /** JSON of the input, cut. */
  readonly input: string;
  /** JSON of the answer, or why it was refused, cut. */
  readonly result: string;
  readonly requestId: string;
}

/** Whose call it is. */
export interface TracedBy {
  readonly workspace: string;
  /** Uid of the agent, or of the API token. */
  readonly caller: string;
  /** Uid of its root agent; its own where there is none. Who floods pushes out calls of its own family alone. */
  readonly family: string;
}

export const TRACE_LIMITS = {
  /** Newest calls kept of a root agent with all below it, or of an API token. */
  calls: 500,
  /** Characters of inputs and results of the same. */
  characters: 400_000,
  /** Root agents and API tokens of a workspace; the one that called longest ago is forgotten first. */
  families: 32,
  /** Characters of one input or one result. */
  text: 2_000,
} as const;

interface Family {
  calls: { readonly caller: string; readonly call: TracedCall }[];
  characters: number;
}

/** What agents and programs called since this process started: in memory, the newest of each. */
export class CallTrace {
  /** By workspace, then by family, the one that called last at the end. */
  readonly #workspaces = new Map<string, Map<string, Family>>();
  #last = 0;

  keep({ workspace, caller, family: name }: TracedBy, call: Omit<TracedCall, 'seq'>): void {
    const families = this.#workspaces.get(workspace) ?? new Map<string, Family>();
    this.#workspaces.set(workspace, families);
    const family = families.get(name) ?? { calls: [], characters: 0 };
    families.delete(name);
    families.set(name, family);
    this.#last += 1;
    family.calls.push({ caller, call: { ...call, seq: this.#last } });
    family.characters += sizeOf(call);
    while (family.calls.length > TRACE_LIMITS.calls || family.characters > TRACE_LIMITS.characters) {
      const gone = family.calls.shift();
      if (!gone) break;
      family.characters -= sizeOf(gone.call);
    }
    for (const oldest of families.keys()) {
      if (families.size <= TRACE_LIMITS.families) break;
      families.delete(oldest);
    }
  }

  /** Newest first. */
  of({ workspace, caller, family }: TracedBy): readonly TracedCall[] {
    const { calls = [] } = this.#workspaces.get(workspace)?.get(family) ?? {};
    return calls
      .filter((kept) => kept.caller === caller)
      .map(({ call }) => call)
      .reverse();
  }
}

function sizeOf({ input, result }: Pick<TracedCall, 'input' | 'result'>): number {
  return input.length + result.length;
}
