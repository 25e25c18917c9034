import type { MaybeOptionalInit } from 'openapi-fetch';
import type {
  HttpMethod,
  PathsWithMethod,
  RequiredKeysOf,
  ResponseObjectMap,
  SuccessResponse,
} from 'openapi-typescript-helpers';
import type { components, paths } from '../../web/src/api/schema.d.ts';

export type { components, operations, paths } from '../../web/src/api/schema.d.ts';

/** Shapes of answers and bodies by name, such as `Schemas['Problem']`. */
export type Schemas = components['schemas'];

export interface ClientOptions {
  /** Address of the control plane, `https://mesh.example.com`. */
  readonly url: string;
  /** An API token, a session, or the token of an agent. */
  readonly token: string;
  /** Id, slug or namespace of the workspace; left out: the one that the token is good for, else the whole installation. */
  readonly workspace?: string;
}

/** The body of a successful answer; undefined where it has none. Some operations answer one of two: see their `202`. */
export type Answer<Operation extends Record<string | number, unknown>> = SuccessResponse<
  ResponseObjectMap<Operation>,
  'application/json'
>;

type Operation<Path, Method extends HttpMethod> = Path extends keyof paths
  ? NonNullable<paths[Path][Method & keyof paths[Path]]>
  : never;

type Arguments<Init> = RequiredKeysOf<Init> extends never ? [init?: Init] : [init: Init];

/**
 * Calls an operation: its path as in docs/operations.md, then `params` (`path`, `query`, `header`), `body`, `signal` and what
 * else `fetch` takes.
 *
 * @throws MeshProblem for every refusal, and with the code `unreachable` where the control plane does not answer
 */
export type Call<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>>(
  path: Path,
  ...init: Arguments<MaybeOptionalInit<paths[Path], Method>>
) => Promise<Answer<Operation<Path, Method>>>;

/** The lists that are answered in pages. */
export type ListPath = {
  [Path in PathsWithMethod<paths, 'get'>]: Answer<Operation<Path, 'get'>> extends {
    items: readonly unknown[];
    next_cursor?: string;
  }
    ? Path
    : never;
}[PathsWithMethod<paths, 'get'>];

/** One entry of a list. */
export type Item<Path extends ListPath> =
  Answer<Operation<Path, 'get'>> extends { items: readonly (infer Entry)[] } ? Entry : never;

export interface MeshClient {
  readonly GET: Call<'get'>;
  readonly POST: Call<'post'>;
  readonly PUT: Call<'put'>;
  readonly PATCH: Call<'patch'>;
  readonly DELETE: Call<'delete'>;
  /** The entries of a list, page by page as they are read. @throws MeshProblem */
  all<Path extends ListPath>(
    path: Path,
    ...init: Arguments<MaybeOptionalInit<paths[Path], 'get'>>
  ): AsyncGenerator<Item<Path>>;
  /**
   * Follows the changes of the workspace (docs/events.md), across lost connections, until the signal is aborted.
   *
   * @throws MeshProblem where the token ended or may not read them
   */
  events(options?: EventOptions): AsyncGenerator<MeshEvent>;
}

export interface EventOptions {
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal;
  /** The `id` of the last event that was handled: events after it come first. Left out: events from now on. */
  readonly lastEventId?: string;
}

export type MeshEvent = ChangeEvent | DriftEvent | ResetEvent;

export interface ChangeEvent {
  readonly event: 'change';
  readonly id: string;
  readonly data: {
    readonly revision: number;
    /** ISO 8601. */
    readonly at: string;
    /** For callers with `audit:read`. */
    readonly actor?: string;
    readonly changes: readonly {
      readonly type: 'created' | 'updated' | 'deleted';
      /** Such as `MeshPolicy`; more kinds may come. */
      readonly kind: string;
      readonly name: string;
      readonly id: string;
    }[];
  };
}

export interface DriftEvent {
  readonly event: 'compliance.drift';
  readonly id: string;
  readonly data: {
    readonly id: string;
    readonly framework: string;
    /** ISO 8601. */
    readonly at: string;
    readonly evidence_id: string;
    readonly previous_evidence_id: string;
    readonly controls: readonly {
      readonly control: string;
      readonly from: string;
      readonly to: string;
      readonly cause: unknown;
    }[];
  };
}

/** Changes were missed: read everything anew. */
export interface ResetEvent {
  readonly event: 'reset';
  /** Empty where no event had come before the connection was lost. */
  readonly id: string;
}
