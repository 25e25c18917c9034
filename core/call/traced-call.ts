import { apiTokenOf, type Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { type AnyOperation, type Face, isPending } from '../base/operation.ts';
import { JsonText } from '../compute/compute.ts';
import { type Calls, TRACE_LIMITS, type TracedBy } from '../model/call-trace.ts';

/** A call that is over. */
export interface EndedCall {
  readonly operation: Pick<AnyOperation<never>, 'name' | 'confidential' | 'output'>;
  readonly caller: Caller | null;
  readonly workspace: string | undefined;
  readonly face: Face;
  readonly requestId: string;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly end: { readonly answer: unknown } | { readonly error: unknown };
}

/** Keeps what agents and API tokens call; what a signed-in person does is theirs. */
export function keepTrace(trace: Pick<Calls, 'keep'>, now: number, call: EndedCall): void {
  const by = tracedBy(call);
  if (!by) return;
  const { operation, face, requestId, raw, end } = call;
  trace.keep(by, {
    at: now,
    operation: operation.name,
    face,
    requestId,
    outcome: outcomeOf(end),
    input: shown(JSON.stringify(withoutFields(raw, operation.confidential?.input))),
    result: shown(resultOf(operation, end)),
  });
}

function tracedBy({ caller, workspace }: EndedCall): TracedBy | undefined {
  const own = caller?.workspaces === 'all' ? undefined : caller?.workspaces[0];
  const where = workspace ?? own;
  if (!caller || where === undefined) return undefined;
  const token = apiTokenOf(caller);
  if (token !== undefined) return { workspace: where, caller: token, family: token };
  return caller.kind === 'agent'
    ? { workspace: where, caller: caller.id, family: caller.line?.at(-1) ?? caller.id }
    : undefined;
}

function outcomeOf(end: EndedCall['end']): string {
  if ('answer' in end) return isPending(end.answer) ? 'pending_approval' : 'ok';
  return end.error instanceof MeshError ? end.error.code : 'internal';
}

function resultOf({ confidential, output }: EndedCall['operation'], end: EndedCall['end']): string {
  if ('error' in end) return end.error instanceof MeshError ? end.error.message : '';
  if (confidential?.answer && !isPending(end.answer)) return SECRET;
  // A stream goes on after its call.
  if (output.type === 'custom') return '';
  if (end.answer instanceof JsonText) return beginOf(end.answer);
  return JSON.stringify(end.answer) ?? '';
}

const SECRET = '(secret)';
/** More is read than shown, for what is left out makes the text shorter; a character has at most 4 bytes. */
const READ = TRACE_LIMITS.text * 2;

function beginOf({ bytes }: JsonText): string {
  return new TextDecoder().decode(bytes.subarray(0, READ * 4));
}

function withoutFields(raw: EndedCall['raw'], secret: readonly string[] = []): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(raw).map(([field, value]) => [field, secret.includes(field) ? SECRET : value]),
  );
}

/** A token of ours, wherever it stands, whole or cut. */
const TOKENS = /mesh-(?:join|dlg|agt|dev|api)-[A-Za-z0-9_-]+/g;
/** A text in a field of JSON, whole or cut. */
const FIELDS = /"([^"\\]*)":"(?:[^"\\]|\\.)*/g;
const SECRET_NAME = /token|secret|password|credential|privatekey|joinlink|otp|authorization/i;

/** The beginning of a text, without secrets. */
function shown(text: string): string {
  const begin = text.slice(0, READ).replaceAll(FIELDS, withoutSecret).replaceAll(TOKENS, SECRET);
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
