import OpenAI, { APIError, APIUserAbortError } from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { MeshError } from '../core/errors.ts';
import { unmetExpectations } from '../core/intent/expectations.ts';
import type { PlanAnswer, Planner, PlanQuestion } from '../core/intent/planner.ts';
import { planChanges } from '../core/network/changes.ts';
import { modelOf } from '../core/network/model.ts';
import type { Log } from '../core/ports.ts';
import { compile } from '../core/reachability/engine.ts';
import type { Secret } from '../core/secret.ts';
import { answerSchema, changesOf, expectationsOf, type ModelAnswer } from './answer-schema.ts';
import { questionDocument, repairPrompt, SYSTEM_PROMPT } from './prompt.ts';

export interface OpenAiPlannerOptions {
  readonly baseURL: string;
  readonly model: string;
  readonly apiKey?: Secret | undefined;
  readonly log: Log;
  /** For one request; a retried one has it again. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_TOKENS = 8_000;
/** Some servers refuse an empty key, though they need none. */
const NO_KEY = 'none';

type Messages = OpenAI.Chat.ChatCompletionMessageParam[];

/** A planner that asks a model behind an OpenAI-compatible server. What it answers is only ever proposed, never trusted. */
export function openAiPlanner({ baseURL, model, apiKey, log, timeoutMs = TIMEOUT_MS }: OpenAiPlannerOptions): Planner {
  const client = new OpenAI({
    baseURL,
    apiKey: apiKey?.reveal() ?? NO_KEY,
    timeout: timeoutMs,
    maxRetries: 1,
    logLevel: 'off',
  });

  async function ask(messages: Messages, signal: AbortSignal): Promise<Reply> {
    try {
      const { choices } = await client.chat.completions.create(
        {
          model,
          messages,
          max_completion_tokens: MAX_ANSWER_TOKENS,
          response_format: zodResponseFormat(answerSchema, 'network_plan'),
        },
        { signal },
      );
      return replyOf(choices?.[0]);
    } catch (error) {
      if (error instanceof APIUserAbortError) throw new MeshError('unavailable', 'The request was cancelled.');
      const status = error instanceof APIError ? error.status : undefined;
      log.warn({ model, status, error: error instanceof Error ? error.name : 'unknown' }, 'the model does not answer');
      throw new MeshError('unavailable', 'The model does not answer. Try again, or pass typed changes.');
    }
  }

  return {
    name: `openai:${model}`,
    async plan(question: PlanQuestion): Promise<PlanAnswer> {
      const messages: Messages = [
        { role: 'system', content: SYSTEM_PROMPT },
        { role: 'user', content: questionDocument(question) },
      ];
      const first = await ask(messages, question.signal);
      if (first.end) return first.end;
      const judged = judge(first.text, question);
      if (judged.issues.length === 0 && judged.answer) return judged.answer;
      messages.push({ role: 'assistant', content: first.text }, { role: 'user', content: repairPrompt(judged.issues) });
      const second = await ask(messages, question.signal);
      if (second.end) return second.end;
      const repaired = judge(second.text, question);
      if (repaired.answer) return repaired.answer;
      log.warn({ model, issues: repaired.issues.length }, 'the model gave no usable plan');
      return refusal('The model gave no answer that can be used, twice. Say it in other words, or pass typed changes.');
    },
  };
}

type Reply =
  | { readonly text: string; readonly end?: undefined }
  | { readonly end: PlanAnswer; readonly text?: undefined };

/** A refusal and an answer that was cut are ends, not texts to repair. */
function replyOf(choice: OpenAI.Chat.ChatCompletion.Choice | undefined): Reply {
  const { message, finish_reason: reason } = choice ?? {};
  if (message?.refusal) return { end: refusal('The model refuses to plan this.') };
  if (reason === 'length') return { end: refusal('The answer of the model was cut off: ask for less at once.') };
  if (reason === 'content_filter') return { end: refusal('The server of the model withheld its answer.') };
  return { text: typeof message?.content === 'string' ? message.content : '' };
}

interface Judged {
  /** Set when it can be planned, even where its expectations are not met: then the plan is shown as unverified. */
  readonly answer?: PlanAnswer;
  readonly issues: readonly string[];
}

/** Everything that can be known about an answer without a person: its form, whether it can be made, what it would do. */
function judge(text: string, { state, now }: PlanQuestion): Judged {
  const parsed = parse(text);
  if (!parsed.data) return { issues: parsed.issues };
  const { understood, reason, questions, summary } = parsed.data;
  if (!understood)
    return { answer: refusal(reason || 'The model did not understand the intent.', questions), issues: [] };
  const { changes, issues } = changesOf(parsed.data);
  if (issues.length > 0) return { issues };
  const expectations = expectationsOf(parsed.data);
  if (changes.length === 0) return { issues: ['changes: there is none, yet understood is true'] };
  if (expectations.length === 0) return { issues: ['expectations: state what must hold afterwards'] };
  try {
    const { after } = planChanges(state, changes, now);
    const unmet = unmetExpectations(expectations, after, compile(modelOf(after, now)));
    const answer: PlanAnswer = { outcome: 'changes', changes, expectations, summary: oneLine(summary) };
    return {
      answer,
      issues: unmet.map(({ src, dst, expect, detail }) => `${expect} ${src} -> ${dst} does not hold: ${detail}`),
    };
  } catch (error) {
    if (error instanceof MeshError) return { issues: [error.message] };
    throw error;
  }
}

function parse(text: string): { data?: ModelAnswer; issues: string[] } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { issues: ['the answer is not JSON'] };
  }
  const parsed = answerSchema.safeParse(value);
  if (parsed.success) return { data: parsed.data, issues: [] };
  return { issues: parsed.error.issues.map(({ path, message }) => `${path.join('/')}: ${message}`) };
}

const MAX_TEXT = 400;

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_TEXT);
}

function refusal(reason: string, questions: readonly string[] = []): PlanAnswer {
  return { outcome: 'refused', reason: oneLine(reason), questions: questions.slice(0, 5).map(oneLine) };
}
