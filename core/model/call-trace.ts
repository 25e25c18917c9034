import type { Face } from '../base/operation.ts';

/** A call of an agent or of a program, as it is kept to be read back. Holds no secret. */
export interface TracedCall {
  /** Rises with each call, and from one control plane to the next within their clocks. */
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
  /** Characters of inputs and results of all workspaces; the one that has most of them forgets first. */
  allCharacters: 100_000_000,
  /** Characters of one input or one result. */
  text: 2_000,
} as const;

type TraceLimits = Readonly<Record<keyof typeof TRACE_LIMITS, number>>;

interface Family {
  calls: { readonly caller: string; readonly call: TracedCall }[];
  characters: number;
}

interface Workspace {
  /** The one that called last at the end. */
  readonly families: Map<string, Family>;
  characters: number;
}

/** Recent calls of agents and programs. */
export interface Calls {
  keep(by: TracedBy, call: Omit<TracedCall, 'seq'>): void;
  /** Newest first. @throws StoreError where they are kept in a store that does not answer */
  of(by: TracedBy): Promise<readonly TracedCall[]>;
  /** Keeps what is still to be kept, at the end. */
  close(): Promise<void>;
}

/** Since this process started: in memory, the newest of each. */
export class CallTrace implements Calls {
  readonly #workspaces = new Map<string, Workspace>();
  readonly #limits: TraceLimits;
  #last = 0;
  #characters = 0;

  constructor(limits: Partial<TraceLimits> = {}) {
    this.#limits = { ...TRACE_LIMITS, ...limits };
  }

  keep({ workspace, caller, family: name }: TracedBy, call: Omit<TracedCall, 'seq'>): void {
    const { calls, characters, families: most, allCharacters } = this.#limits;
    const own = this.#workspaces.get(workspace) ?? { families: new Map<string, Family>(), characters: 0 };
    this.#workspaces.set(workspace, own);
    const family = own.families.get(name) ?? { calls: [], characters: 0 };
    own.families.delete(name);
    own.families.set(name, family);
    this.#last += 1;
    family.calls.push({ caller, call: { ...call, seq: this.#last } });
    this.#count(own, family, sizeOf(call));
    while (family.calls.length > calls || family.characters > characters) {
      const gone = family.calls.shift();
      if (!gone) break;
      this.#count(own, family, -sizeOf(gone.call));
    }
    while (own.families.size > most) this.#forgetOldest(own);
    while (this.#characters > allCharacters) this.#forgetOldest(this.#largest(own));
  }

  async of({ workspace, caller, family }: TracedBy): Promise<readonly TracedCall[]> {
    const { calls = [] } = this.#workspaces.get(workspace)?.families.get(family) ?? {};
    return calls
      .filter((kept) => kept.caller === caller)
      .map(({ call }) => call)
      .reverse();
  }

  async close(): Promise<void> {}

  #count(workspace: Workspace, family: Family, characters: number): void {
    family.characters += characters;
    workspace.characters += characters;
    this.#characters += characters;
  }

  #forgetOldest(workspace: Workspace): void {
    const [oldest] = workspace.families;
    if (!oldest) return;
    const [name, family] = oldest;
    this.#count(workspace, family, -family.characters);
    workspace.families.delete(name);
  }

  #largest(first: Workspace): Workspace {
    let largest = first;
    for (const one of this.#workspaces.values()) if (one.characters > largest.characters) largest = one;
    return largest;
  }
}

function sizeOf({ input, result }: Pick<TracedCall, 'input' | 'result'>): number {
  return input.length + result.length;
}
