import type { Kind } from '../../core/base/record.ts';
import type { RawMcp } from './raw-mcp.ts';
import type { Standing, Verdict } from './standing.ts';

/** What happened while streams of events were open. */
export interface History {
  /** Revision of the last change, which may be seen by all who read events. */
  readonly end: number;
  /** Records of the other workspace, by their ids. */
  readonly foreign: ReadonlyMap<string, Kind>;
}

/** One who asks, with a client of each face. */
export interface Asker {
  readonly bearer: string | undefined;
  readonly workspace: string;
  readonly send: (path: string, token: string | undefined, init: RequestInit) => Promise<Response>;
  /** In the order of the eras. */
  readonly mcp: readonly RawMcp[];
  /** The answer to a request for events from before the changes of `history`. */
  readonly events: Response;
  readonly history: History;
  readonly ids: { readonly snapshots: string; readonly workflows: string };
}

/** One row of the table: what is asked for, what the definitions say, and how to find out. */
export interface Ask {
  readonly what: string;
  readonly needs: string;
  expected(standing: Standing): Verdict;
  /** Each answer that was got; they have to be alike. */
  observed(asker: Asker): Promise<readonly Verdict[]>;
}
