import { toProblem } from '../core/base/errors.ts';
import { type CallRequest, invoke } from '../core/call/invoke.ts';
import { logFailure } from '../core/call/log-failure.ts';
import { redirectAnswerText } from '../core/cause/redirect-text.ts';
import { type NarrationSource, narrationOf } from './debug-narration.ts';
import type { CauseAnswer, DebugEvent, DebugRun } from './debug-runs.ts';

export interface DebugSource extends NarrationSource {
  /** Keeps the run as it is, for another control plane to go on with. */
  readonly keep: () => Promise<void>;
}

const PATH = '/api/v1/ai/debug';
const MAX_FINDINGS = 50;
/** Characters of one `token`. */
const TOKEN = 80;
/**
 * Most characters of JSON in the answer of a tool that a question led to; a longer answer must be requested from that tool
 * itself.
 */
const MAX_ANSWER = 64 * 1024;
/** A model is asked again for a reader that was cut off while it worked, so often in all. */
const MAX_NARRATIONS = 2;

/**
 * The events of a run: those told already, and then what is computed now. The question, the range and the workspace are those
 * of its first request. Ends with `done` or `error`, unless its reader has gone.
 */
export async function* eventsOf(run: DebugRun, source: DebugSource): AsyncGenerator<DebugEvent> {
  yield* [...run.events];
  if (run.isOver) return;
  const { call, log } = source;
  try {
    yield* pastEvents(run, source);
  } catch (thrown) {
    if (call.signal.aborted) return;
    const problem = toProblem(thrown, { instance: PATH, requestId: call.requestId });
    logFailure(log, thrown, problem, { operation: 'debug' });
    yield appendEvent(run, { event: 'error', data: problem });
  }
}

async function* pastEvents(run: DebugRun, source: DebugSource): AsyncGenerator<DebugEvent> {
  const { signal } = source.call;
  if (run.events.length === 0) {
    yield appendEvent(run, { event: 'step', data: { step: 'read', text: 'The question is read.' } });
    yield appendEvent(run, { event: 'tool', data: { name: 'find_cause', arguments: run.asked, by: 'mesh' } });
  }
  if (!run.answer) {
    const { events, answer } = await answered(run, source);
    if (signal.aborted) return;
    // All at once: whoever resumes finds what was computed, and it is not computed again.
    run.answer = answer;
    run.events.push(...events);
    await source.keep();
    yield* events;
  }
  for await (const event of narrated(run, source, run.answer)) yield appendEvent(run, event);
  if (signal.aborted) return;
  const { findings, ...rest } = run.answer;
  yield appendEvent(run, { event: 'done', data: { ...rest, omitted: rest.finding_count - findings.length } });
}

function appendEvent(run: DebugRun, event: DebugEvent): DebugEvent {
  run.events.push(event);
  run.isOver = event.event === 'done' || event.event === 'error';
  return event;
}

/** Answers a question about the past in events; if another tool answers the question, calls that one too. */
async function answered(run: DebugRun, source: DebugSource) {
  const raw = { ...run.asked, limit: MAX_FINDINGS };
  const answer = (await ask('find_cause', raw, run, source)) as CauseAnswer;
  const { reading, finding_count: count, findings, next } = answer;
  const events: DebugEvent[] = [];
  const say = (text: string) => events.push(...tokens(text, { by: 'mesh' }));
  if (!next) {
    const text = `${reading}: ${count} ${count === 1 ? 'change' : 'changes'}.`;
    events.push({ event: 'step', data: { step: 'search', text } });
    for (const finding of findings) events.push({ event: 'finding', data: finding });
    say(answer.summary);
    return { events, answer };
  }
  events.push({ event: 'step', data: { step: 'lead', text: `${reading}.` } });
  events.push({ event: 'tool', data: { name: next.tool, arguments: next.arguments, by: 'mesh' } });
  const other = await ask(next.tool, next.arguments, run, source);
  const summary = redirectAnswerText(other);
  say(summary);
  const isShort = JSON.stringify(other).length <= MAX_ANSWER;
  return { events, answer: { ...answer, summary, answer: isShort ? other : null } };
}

function ask(name: string, raw: CallRequest['raw'], { workspace }: DebugRun, { operations, gate, call }: DebugSource) {
  const operation = operations.find((one) => one.name === name);
  if (!operation) throw new TypeError(`There is no operation ${name}.`);
  return invoke(operation, { ...call, raw, workspaceHints: [workspace] }, gate);
}

/** The words of a model, marked as its own; none of it decides what is answered. */
async function* narrated(run: DebugRun, source: DebugSource, answer: CauseAnswer): AsyncGenerator<DebugEvent> {
  const { narrator } = source.gate.services;
  if (!narrator || run.narrations >= MAX_NARRATIONS) return;
  run.narrations += 1;
  const { model } = narrator;
  yield { event: 'step', data: { step: 'words', text: `The model ${model} is asked to word the answer.` } };
  for await (const event of narrationOf(narrator, run, source, answer)) {
    if (source.call.signal.aborted) return;
    switch (event.type) {
      case 'tool':
        yield { event: 'tool', data: { name: event.name, arguments: event.arguments, by: 'model', model } };
        break;
      case 'text':
        yield* tokens(event.text, { by: 'model', model });
        break;
      case 'failed':
        yield { event: 'step', data: { step: 'words', text: `The model gave no words: ${event.reason}` } };
        break;
      default:
        event satisfies never;
    }
  }
}

/** A text in pieces that end with a word. */
function tokens(
  text: string,
  by: { readonly by: 'mesh' } | { readonly by: 'model'; readonly model: string },
): DebugEvent[] {
  const pieces: string[] = [];
  let piece = '';
  for (const word of text.split(' ')) {
    piece += piece === '' && pieces.length === 0 ? word : ` ${word}`;
    if (piece.length < TOKEN) continue;
    pieces.push(piece);
    piece = '';
  }
  const whole = piece === '' ? pieces : [...pieces, piece];
  return whole.map((part) => ({ event: 'token', data: { text: part, ...by } }));
}
