import { ANONYMOUS, type Caller } from '../base/caller.ts';
import type { Edition } from '../base/edition.ts';
import { invalidInput, MeshError, sentenceOf } from '../base/errors.ts';
import { withoutIgnored } from '../base/ignored-field.ts';
import {
  type AnyOperation,
  type CallContext,
  type Face,
  fieldOf,
  isPending,
  speaksWire,
  takesAway,
} from '../base/operation.ts';
import { refusePollution } from '../base/polluting-keys.ts';
import { StoreError } from '../base/ports.ts';
import { type IsDiskFull, RESERVE_LEVELS } from '../base/reserve.ts';
import { fieldErrorsOf, PLAINLY } from '../base/schema-errors.ts';
import type { Access } from '../base/scope.ts';
import { fromStore, storageFull } from '../base/store-problems.ts';
import { type Compute, heavyCallOf } from '../compute/compute.ts';
import type { AuthenticationOptions } from '../identity/authenticate.ts';
import { requireWire } from '../model/wire.ts';
import { withNames } from '../model/with-nearest.ts';
import { timeZoneOf, workspaceById } from '../model/workspaces.ts';
import { type EntityTags, isChangedSince, preconditionFailed, withRevision } from '../state/expecting.ts';
import { withMergePatch } from '../state/merge-patch.ts';
import { YamlText, yamlOfAnswer } from '../views/custom-resource.ts';
import { runOrRequestApproval } from '../workflow/call-approval.ts';
import type { Services } from '../workflow/services.ts';
import { mayAccess, requireAccess, requireUnrestricted } from './access.ts';
import { withInstants } from './moments.ts';
import {
  awaitCommits,
  type CallOrigin,
  type CommitWaiter,
  ownWorkspace,
  resolveWorkspace,
} from './resolve-workspace.ts';
import type { BegunCall, Trace } from './traced-call.ts';

/** A call as a face received it. */
export interface CallRequest extends CallOrigin {
  /** Path, query and body fields together. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly face: Face;
  readonly origin: string;
  /** Tells whether root, or the user of the control plane, runs the process at the other end of the connection. Absent for no. */
  readonly isFromHost?: () => Promise<boolean>;
  /** Key that the browser of the dashboard keeps, for an operation that asks for it. */
  readonly browserKey?: string | undefined;
  /** Versions of the wire that a node says it speaks. */
  readonly wire?: string | undefined;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** When the face was handed the request, by `performance.now()`. Set by faces that wait for something before they call. */
  readonly readAt?: number | undefined;
  /** True where the face passes JSON text on as it is: a heavy answer stays text then. */
  readonly takesJsonText?: boolean;
  /** True to get resources of the answer as YAML. */
  readonly asYaml?: boolean;
  /** True where the body is a merge patch (RFC 7396) and not the fields themselves. */
  readonly isMergePatch?: boolean;
  /** The versions of the record of which one has to be the current one. */
  readonly ifMatch?: EntityTags | undefined;
  /** Receives the caller that is let in, for the log of requests. */
  readonly onAdmitted?: (who: { readonly actor?: string; readonly workspace: string }) => void;
  /** Receives a sentence on the next stage. */
  readonly onStage?: (text: string) => void;
}

/** The services of every call. `bin/` supplies them. */
export interface Gate<S> extends CommitWaiter {
  readonly services: S;
  readonly isDiskFull?: IsDiskFull;
  readonly edition: Edition;
  /** Runs heavy operations elsewhere; without it they run in place. */
  readonly compute?: Compute<S>;
  /** @throws MeshError `unauthenticated` with what to do. */
  authenticate(bearer: string, origin: string, options?: AuthenticationOptions): Promise<Caller>;
  /** Returns services whose store writes as one caller may, as long as `requireTimely` does not throw. */
  servicesFor(caller: Caller, requireTimely?: () => void): S;
  /** Begins a call: see `Standstill.begin`. */
  begin?(signal: AbortSignal, readAt?: number): () => void;
  /**
   * Called once for each refused call, for the audit log. Never throws.
   *
   * @param workspace of the call, where it came so far
   */
  refused(operation: string, error: MeshError, request: CallRequest, caller: Caller, workspace?: string): void;
  /** Prepares the trace of a call, before it writes anything. @throws MeshError `invalid_input` where it cannot be recorded */
  traced(call: BegunCall): Trace;
}

/**
 * The one path every face takes: hear of what others wrote, authenticate, edition, resolve the workspace, scope in it, parse, run, check the answer.
 *
 * @throws MeshError for every expected failure; anything else is a bug.
 */
export async function invoke(
  operation: AnyOperation<Services>,
  sentRequest: CallRequest,
  gate: Gate<Services>,
): Promise<unknown> {
  const requireTimely = gate.begin?.(sentRequest.signal, sentRequest.readAt);
  const request = { ...sentRequest, raw: withoutIgnored(operation.input, sentRequest.raw) };
  let caller = ANONYMOUS;
  let workspace: string | undefined;
  const { face, requestId } = request;
  const traced = (raw: CallRequest['raw']) => gate.traced({ operation, caller, workspace, face, requestId, raw });
  let ended: Trace | undefined;
  try {
    const current = await awaitCommits(request, request.raw['workspace_id'], gate);
    const admit = async () => {
      caller = await callerOf(operation.access, request, gate);
      if (speaksWire(operation)) requireWire(request.wire);
      requireEdition(operation, request.raw, gate.edition);
      requireUnrestricted(operation, caller);
      return resolveWorkspace(operation, request, caller, gate);
    };
    let resolved = await admit();
    while (!current.has(resolved.workspace)) {
      await gate.caughtUp([resolved.workspace]);
      current.add(resolved.workspace);
      // Rights in it may have changed meanwhile.
      resolved = await admit();
    }
    const { raw: sent } = resolved;
    refusePollution(sent);
    const within = resolved.workspace;
    workspace = within;
    request.onAdmitted?.({ ...(caller.kind !== 'anonymous' && { actor: caller.subject }), workspace });
    requireAccess(operation, caller, workspace);
    if (gate.isDiskFull?.(RESERVE_LEVELS[useOf(operation)])) throw storageFull();
    ended = traced(request.raw);
    const services = gate.servicesFor(caller, requireTimely);
    const { origin, isFromHost, browserKey, wire, signal, onStage } = request;
    const context: CallContext<Services> = {
      ...{ services, caller, workspace, requestId, face, origin, signal },
      ...(isFromHost && { isFromHost }),
      ...(browserKey !== undefined && { browserKey }),
      ...(wire !== undefined && { wire }),
      ...(onStage && { onStage }),
    };
    const held = request.ifMatch ? await withRevision(operation, sent, request.ifMatch, context) : sent;
    const whole = request.isMergePatch ? await withMergePatch(operation, held, context) : held;
    const raw = await withInstants(
      operation.input,
      operation.spellings ? spelled(operation, whole) : whole,
      async () => ({
        now: services.clock.now(),
        timeZone: await timeZoneOf(services, within),
      }),
    );
    const shown = request.asYaml ? operation.shows : undefined;
    const asShown = async (answer: unknown) => {
      if (!shown) return answer;
      const { namespace } = (await workspaceById(services, within)).spec;
      return new YamlText(yamlOfAnswer(shown, answer, namespace), answer);
    };
    if (gate.compute && isHeavy(operation, raw, services)) {
      onStage?.('Computing');
      const text = await gate.compute.run(heavyCallOf(operation.name, raw, context), services, signal);
      ended({ answer: text });
      return request.takesJsonText && !shown ? text : asShown(text.parse());
    }
    const input = parseInput(operation, takesToken(operation) ? { ...raw, token: request.bearer } : raw);
    const answer = await runOrRequestApproval(operation, input as CallRequest['raw'], context);
    const checked = isPending(answer) ? answer : operation.output.parse(answer);
    ended({ answer: checked });
    return isPending(answer) ? answer : await asShown(checked);
  } catch (error) {
    const mayList = () =>
      !takesAway(operation) && workspace !== undefined && mayAccess('network:read', caller, workspace);
    const known = problemOf(error, request);
    const expected = known instanceof MeshError ? withNames(known, mayList) : known;
    if (expected instanceof MeshError) gate.refused(operation.name, expected, request, caller, workspace);
    (ended ?? orWithout(traced, request.raw))({ error: expected });
    throw expected;
  }
}

/** Returns a failure as its caller sees it. */
function problemOf(error: unknown, { ifMatch }: CallRequest): unknown {
  if (error instanceof StoreError) return fromStore(error);
  return ifMatch && isChangedSince(error) ? preconditionFailed(error.message) : error;
}

/** Returns what an operation uses the disk for, as far as it says; the store checks its other writes. */
function useOf({ effects, http, whenFull }: AnyOperation<Services>): keyof typeof RESERVE_LEVELS {
  if (effects.readOnlyHint || http.method === 'delete' || whenFull === 'works') return 'removal';
  if (whenFull === 'leaves the last') return 'trace';
  return http.method === 'put' || http.method === 'patch' ? 'change' : 'new';
}

/** Parses the input, runs a heavy operation and checks its answer, in a computing thread. @throws MeshError */
export async function answerOf<S>(
  operation: AnyOperation<S>,
  raw: Readonly<Record<string, unknown>>,
  context: CallContext<S>,
): Promise<unknown> {
  return operation.output.parse(await operation.run(parseInput(operation, raw) as never, context));
}

function isHeavy(
  { cost }: AnyOperation<Services>,
  raw: Readonly<Record<string, unknown>>,
  services: Services,
): boolean {
  return (typeof cost === 'function' ? cost(raw, services) : cost) === 'heavy';
}

/** An enrolment may ask for the token itself: it is part of what the device proves. */
function takesToken({ access, input }: AnyOperation<Services>): boolean {
  return access === 'enrolment' && 'token' in input.shape;
}

async function callerOf(access: Access, request: CallRequest, gate: Gate<Services>): Promise<Caller> {
  if (request.caller) return request.caller;
  if (access === 'public') return ANONYMOUS;
  if (!request.bearer)
    throw new MeshError('unauthenticated', 'Send a token in the header Authorization: Bearer <token>.');
  return gate.authenticate(request.bearer, request.origin);
}

/** Looks at nothing but which arguments are there: whoever lacks the edition need not get the request right first. */
function requireEdition(
  { edition: needed, proWhen, title }: AnyOperation<Services>,
  raw: Readonly<Record<string, unknown>>,
  edition: Edition,
): void {
  if (edition === 'pro' || !(needed === 'pro' || proWhen?.(raw))) return;
  throw new MeshError('edition_required', `${title} is part of the Pro edition. Set MESH_EDITION=pro.`);
}

/**
 * Lets a caller in again whose stream or subscription outlives its request.
 *
 * @throws MeshError as `invoke` does
 */
export async function requireStillAllowed(
  operation: AnyOperation<Services>,
  caller: Caller,
  workspace: string,
  gate: Gate<Services>,
): Promise<void> {
  await ownWorkspace(workspace, caller.workspaces, gate);
  requireAccess(operation, caller, workspace);
}

function parseInput<S>(operation: AnyOperation<S>, raw: Readonly<Record<string, unknown>>): unknown {
  const parsed = operation.input.safeParse(raw, PLAINLY);
  if (parsed.success) return parsed.data;
  const errors = fieldErrorsOf(parsed.error);
  throw invalidInput(errors, sentenceOf(errors));
}

/** A field that comes under two names is left under both, and so refused. */
function spelled<S>(operation: AnyOperation<S>, raw: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(raw).map(([name, value]) => {
      const field = fieldOf(operation, name);
      return [Object.hasOwn(raw, field) ? name : field, value];
    }),
  );
}

/** Traces a refused call, whose arguments may be what cannot be recorded. */
function orWithout(traced: (raw: CallRequest['raw']) => Trace, raw: CallRequest['raw']): Trace {
  try {
    return traced(raw);
  } catch {
    return traced({});
  }
}
