import { z } from 'zod';
import type { Caller } from './caller.ts';
import type { Edition } from './edition.ts';
import type { ProblemCode } from './errors.ts';
import type { Kind, RecordKey, ResourceKind } from './record.ts';
import type { Access } from './scope.ts';

/** How the operation appears under /api/v1. Input fields named as `:param` in `path` come from the URL. */
export interface HttpBinding {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** `:workspaceId` is not an input field: it names the workspace (see `workspace`). */
  readonly path: `/api/v1/${string}`;
  /** Other paths, with the same parameters, that mean the same; not in the OpenAPI document. */
  readonly aliases?: readonly `/api/v1/${string}`[];
  readonly status?: number;
  /** Another status, which some answers have. */
  readonly otherStatus?: {
    readonly status: number;
    readonly description: string;
    readonly when: (answer: unknown) => boolean;
  };
  /** Wraps the answer: `{data: …}`. */
  readonly envelope?: 'data';
  /** The raw body arrives in this input field when it is sent as YAML (`application/yaml`). */
  readonly yamlField?: string;
  /** Its pages are sent as one answer: lists and maps go on from page to page, the rest is that of the first. */
  readonly joinsPages?: true;
  /** Effect on the caller's session, which a browser may keep in a cookie (`staySignedIn`). */
  readonly session?: 'begins' | 'ends';
  /** Set where the browser of the dashboard keeps a secret key from one call to another, in a cookie (`CallContext.browserKey`). */
  readonly browserKey?: 'made' | 'used';
  /** Set where a client can follow the stages of a call as server-sent events (`Accept: text/event-stream`). */
  readonly tellsStages?: true;
}

/** Title of a column, and the path of its field: `status.address`. */
export type Columns = Readonly<Record<string, string>>;

export interface Effects {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** The one record that a call writes, and the version that its caller has seen. */
export interface ExpectedRecord extends RecordKey {
  readonly uid: string;
  readonly revision: number;
}

export interface CallContext<Services> {
  readonly services: Services;
  readonly caller: Caller;
  /** Id of the resolved workspace; SYSTEM_WORKSPACE where the operation has none. */
  readonly workspace: string;
  readonly requestId: string;
  readonly face: Face;
  /** Source address, where there is one. */
  readonly origin: string;
  /** Tells whether root, or the user of the control plane, runs the process at the other end of the connection. Absent for no. */
  readonly isFromHost?: () => Promise<boolean>;
  /** Key that one browser of the dashboard alone has; absent for any other caller (`HttpBinding.browserKey`). */
  readonly browserKey?: string;
  /** Versions of the wire that a node says it speaks. */
  readonly wire?: string;
  readonly signal: AbortSignal;
  /** The record that is to be at a revision; the store refuses other writes, and a change that waits keeps it. */
  readonly expected?: ExpectedRecord;
  /** Told in a sentence what is done next, where somebody follows. */
  readonly onStage?: (text: string) => void;
}

export type Face = 'rest' | 'mcp';

/** An operation of the service. This is the only place its contract is written down. */
export interface Operation<I extends z.ZodObject, O extends z.ZodType, Services> {
  /** snake_case verb_noun; also the MCP tool and, with hyphens, the CLI command. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  /** Other names of fields, by which the contract has them, each with the field that it means. */
  readonly spellings?: Readonly<Record<string, keyof I['shape'] & string>>;
  readonly output: O;
  readonly access: Access;
  /**
   * `scoped`: runs in one workspace, from the path, `X-Workspace-Id`, `workspace_id`, or the token's only one.
   * `any`: touches none; the caller needs the scope in some workspace, and none need be named.
   */
  readonly workspace: 'none' | 'any' | 'scoped';
  /**
   * Returns, for a `scoped` operation, the workspace of the record that the input names, whoever owns it, so that a request
   * need not name the workspace too. Receives the raw input, before it is checked.
   */
  readonly workspaceOf?: (raw: Readonly<Record<string, unknown>>, services: Services) => Promise<string | undefined>;
  /** Set for a `scoped` operation that is about the installation when no workspace is named, for callers at home in all. */
  readonly orInstallation?: true;
  readonly edition: Edition;
  /** Pro only when this answers true, for operations that are Community until asked about the past. */
  readonly proWhen?: (input: Readonly<Record<string, unknown>>) => boolean;
  readonly effects: Effects;
  /**
   * `heavy`: takes time or memory that grows with the network, or answers much. Runs in a computing thread where there is
   * one, never on the thread that serves everyone; tells so by its services where it depends on them.
   */
  readonly cost?: 'heavy' | ((raw: Readonly<Record<string, unknown>>, services: Services) => 'heavy' | 'light');
  readonly problems: readonly ProblemCode[];
  /**
   * `works` while the disk is nearly full: it takes access away or frees room, as every HTTP DELETE does, or the store
   * refuses what it need not write. `leaves the last` of the reserve to those (`core/base/reserve.ts`).
   */
  readonly whenFull?: 'works' | 'leaves the last';
  /**
   * Marks an answer that holds a secret, and the input fields that do. A pending call with a secret is not stored: its
   * requester repeats it after the approval. The approver sees the other fields.
   */
  readonly confidential?: { readonly answer?: true; readonly input?: readonly string[] };
  /**
   * Input field that names who or what ends with the call: while one waits for a person, another one that ends the same is
   * refused, for it would find nothing any more.
   */
  readonly ends?: string;
  /** Set for an operation of devices that a person may have to approve first. All writes of people and agents may wait. */
  readonly mayWait?: true;
  /**
   * Kind of the one record that the input field `id` names, for operations on one. Where it writes, the record may be
   * expected at a revision, by the field `revision` (`addressedFields`) and by `If-Match`; a read answers its `ETag`.
   */
  readonly addresses?: Kind;
  /** Input fields that replace the map of that name of its record; a merge patch is merged into it (RFC 7396). */
  readonly maps?: readonly ('labels' | 'annotations')[];
  /** Kind of the resource that the answer shows, by itself or as `items`: it can be had as YAML. */
  readonly shows?: ResourceKind;
  readonly http: HttpBinding;
  readonly run: (input: z.output<I>, context: CallContext<Services>) => Promise<z.input<O> | PendingApproval>;
  /** Columns of the table that shows an answer with `items`. */
  readonly columns?: Columns;
  /**
   * Returns the part of an answer that its text over MCP shows: every id, verdict, count and cursor, without repetition. Fields
   * have the names and the places that they have in the answer.
   */
  readonly brief?: (answer: z.output<O>) => Readonly<Record<string, unknown>>;
}

/** The answer to a call that waits for a person: nothing has changed yet. */
export const pendingApproval = z.strictObject({
  status: z.literal('pending_approval'),
  workflow_id: z.string().describe('The change is in force once a person has approved this workflow'),
  another_person: z.literal(true).optional().describe('Who asked may not approve it'),
  workflows: z
    .array(z.strictObject({ workflow_id: z.string(), workspace: z.string().describe('its slug') }))
    .optional()
    .describe('Where it waits in another workspace than that of the call, or in several: each with its workspace'),
  message: z.string().describe('What to do next'),
});

export type PendingApproval = z.input<typeof pendingApproval>;

/** A workflow in which a call waits. */
export interface PendingWorkflow {
  readonly workflow_id: string;
  /** Slug of the workspace whose people decide, where it is not that of the call alone. */
  readonly workspace?: string | undefined;
}

/**
 * @param waiting one for each workspace whose people decide
 * @param how whether who asked has to send the call again once it is approved, and whether they may not approve it
 */
export function pendingFor(
  waiting: readonly PendingWorkflow[],
  { repeated = false, byAnother }: { readonly repeated?: boolean; readonly byAnother: boolean },
  why: readonly string[] = [],
): PendingApproval {
  const workflows = waiting.flatMap(({ workflow_id, workspace }) =>
    workspace === undefined ? [] : [{ workflow_id, workspace }],
  );
  const named = waiting.map(({ workflow_id: id, workspace }) =>
    workspace === undefined ? id : `${id} in the workspace ${workspace}`,
  );
  const who = byAnother ? 'another person' : 'a person';
  const because = why.length > 0 ? ` (${why.join('; ')})` : '';
  const then = repeated ? ' Then send this call again: it holds a secret, which is not kept.' : '';
  return {
    status: 'pending_approval',
    workflow_id: waiting[0]?.workflow_id ?? '',
    ...(byAnother && { another_person: true }),
    ...(workflows.length > 0 && { workflows }),
    message: `Nothing has changed yet: ${who} has to approve ${named.join(' and ')}${because}.${then}`,
  };
}

/** Returns true if a call of an operation may have to wait for a person: all that people, their tokens and agents change. */
export function mayWait(operation: Pick<AnyOperation<unknown>, 'access' | 'effects' | 'mayWait'>): boolean {
  const others: readonly Access[] = ['public', 'authenticated', 'device', 'enrolment'];
  return !operation.effects.readOnlyHint && (operation.mayWait ?? !others.includes(operation.access));
}

/** Returns true if nodes call an operation in a wire version that they share with the control plane. Leaving needs none. */
export function speaksWire({ access, http }: Pick<AnyOperation<unknown>, 'access' | 'http'>): boolean {
  return (access === 'device' || access === 'enrolment') && http.method !== 'delete';
}

/** Returns true if an answer says that a person has to approve first. */
export function isPending(answer: unknown): boolean {
  // Asked of every answer, and a schema that refuses one makes an error of all that is wrong with it.
  const { status } = Object(answer) as { readonly status?: unknown };
  return status === 'pending_approval' && pendingApproval.safeParse(answer).success;
}

/** The input field that a name means. */
export function fieldOf({ spellings }: Pick<AnyOperation<unknown>, 'spellings'>, name: string): string {
  return (spellings && Object.hasOwn(spellings, name) && spellings[name]) || name;
}

/** An operation whose schemas are no longer known to the compiler, for registries and faces. */
export type AnyOperation<Services> = Omit<Operation<z.ZodObject, z.ZodType, Services>, 'run' | 'brief'> & {
  run(input: never, context: CallContext<Services>): Promise<unknown>;
  readonly brief?: (answer: never) => Readonly<Record<string, unknown>>;
};

/** Returns a `define` that infers a handler's types from its schemas. */
export function operationsFor<Services>() {
  return function define<const I extends z.ZodObject, const O extends z.ZodType>(
    operation: Operation<I, O, Services>,
  ): Operation<I, O, Services> {
    return Object.freeze(operation);
  };
}

/** Tells whether a call removes or ends something: no error of it names a record that its caller did not name. */
export function takesAway({ http, whenFull, effects }: Pick<AnyOperation<never>, 'http' | 'whenFull' | 'effects'>) {
  return http.method === 'delete' || (whenFull === 'works' && effects.destructiveHint);
}

export const READ: Effects = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
export const CREATE: Effects = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};
export const UPDATE: Effects = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
};
export const DELETE: Effects = { ...UPDATE };
