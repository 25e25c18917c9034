import { apiTokenOf, type Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { type AnyOperation, type Face, isPending } from '../base/operation.ts';
import type { Clock } from '../base/ports.ts';
import { JsonText } from '../compute/compute.ts';
import { type Calls, TRACE_LIMITS, type TracedBy } from '../model/call-trace.ts';
import { tokenPattern } from '../model/token.ts';

/** A call before it runs. */
export interface BegunCall {
  readonly operation: Pick<AnyOperation<never>, 'name' | 'confidential' | 'output'>;
  readonly caller: Caller;
  readonly workspace: string | undefined;
  readonly face: Face;
  readonly requestId: string;
  readonly raw: Readonly<Record<string, unknown>>;
}

export type CallEnd = { readonly answer: unknown } | { readonly error: unknown };

/** Records the end of a call. Never throws. */
export type Trace = (end: CallEnd) => void;

/**
 * Prepares the trace of a call, so that a call which cannot be recorded is refused before it writes. Calls of agents and
 * API tokens are kept; what a signed-in person does is theirs.
 *
 * @throws MeshError `invalid_input` where the arguments cannot be recorded
 */
export function beginTrace(
  { calls, clock }: { readonly calls: Pick<Calls, 'keep'>; readonly clock: Clock },
  call: BegunCall,
): Trace {
  const by = tracedBy(call);
  if (!by) return () => undefined;
  const { operation, face, requestId } = call;
  const input = inputOf(call);
  return (end) => {
    const result = shown(resultOf(operation, end));
    calls.keep(by, {
      at: clock.now(),
      operation: operation.name,
      face,
      requestId,
      outcome: outcomeOf(end),
      input,
      result,
    });
  };
}

function inputOf({ raw, operation }: BegunCall): string {
  try {
    return shown(JSON.stringify(withoutFields(raw, operation.confidential?.input)));
  } catch (error) {
    throw new MeshError(
      'invalid_input',
      'The arguments of this call cannot be recorded, so it was not carried out. Send plain JSON.',
      {},
      { cause: error },
    );
  }
}

function tracedBy({ caller, workspace }: BegunCall): TracedBy | undefined {
  const own = caller.workspaces === 'all' ? undefined : caller.workspaces[0];
  const where = workspace ?? own;
  if (where === undefined) return undefined;
  const token = apiTokenOf(caller);
  if (token !== undefined) return { workspace: where, caller: token, family: token };
  return caller.kind === 'agent'
    ? { workspace: where, caller: caller.id, family: caller.line?.at(-1) ?? caller.id }
    : undefined;
}

function outcomeOf(end: CallEnd): string {
  if ('answer' in end) return isPending(end.answer) ? 'pending_approval' : 'ok';
  return end.error instanceof MeshError ? end.error.code : 'internal';
}

function resultOf({ confidential, output }: BegunCall['operation'], end: CallEnd): string {
  if ('error' in end) return end.error instanceof MeshError ? end.error.message : '';
  if (confidential?.answer && !isPending(end.answer)) return SECRET;
  // A stream goes on after its call.
  if (output.type === 'custom') return '';
  if (end.answer instanceof JsonText) return beginOf(end.answer);
  try {
    return JSON.stringify(end.answer) ?? '';
  } catch {
    return UNSHOWN;
  }
}

const SECRET = '(secret)';
/** In place of an answer that has no text. */
const UNSHOWN = '(not shown)';
/** More is read than shown, for what is left out makes the text shorter; a character has at most 4 bytes. */
const READ = TRACE_LIMITS.text * 2;

function beginOf({ bytes }: JsonText): string {
  return new TextDecoder().decode(bytes.subarray(0, READ * 4));
}

function withoutFields(raw: BegunCall['raw'], secret: readonly string[] = []): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(raw).map(([field, value]) => [field, secret.includes(field) ? SECRET : value]),
  );
}

/** A token of ours, wherever it stands, whole or cut. */
const TOKENS = tokenPattern(1);
/** A text in a field of JSON, whole or cut. */
const FIELDS = /"([^"\\]*)":"(?:[^"\\]|\\.)*/g;
const SECRET_NAME = /token|secret|password|credential|privatekey|joinlink|otp|authorization/i;

/** The beginning of a text, without secrets. */
function shown(text: string): string {
  const read = text.slice(0, READ);
  // Most texts name no secret, and going through their fields costs five times as much as finding that out.
  const begin = (SECRET_NAME.test(read) ? read.replaceAll(FIELDS, withoutSecret) : read).replaceAll(TOKENS, SECRET);
  const isCut = text.length > READ || begin.length > TRACE_LIMITS.text;
  return copied(isCut ? `${begin.slice(0, TRACE_LIMITS.text - 1)}…` : begin);
}

/** A part of a text may hold the whole of it in memory, and what is called with is megabytes long. */
function copied(text: string): string {
  return Buffer.from(text.toWellFormed()).toString();
}

function withoutSecret(field: string, name: string): string {
  return SECRET_NAME.test(name) ? `"${name}":"${SECRET}` : field;
}
