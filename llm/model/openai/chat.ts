import { setTimeout as after } from 'node:timers/promises';
import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import { MeshError } from '../../../core/base/errors.ts';
import type { Log } from '../../../core/base/ports.ts';
import type { Secret } from '../../../core/base/secret.ts';
import type { ModelCall } from '../../../core/intent/plan/planner.ts';
import {
  adjusted,
  type Dialect,
  FIRST_DIALECT,
  type FormedQuestion,
  insisting,
  type LlmMode,
  MAX_ADJUSTMENTS,
  paramsOf,
} from './dialect.ts';
import { type Reply, ReplyError, readReply } from './reply.ts';

export interface ChatOptions {
  readonly baseURL: string;
  readonly model: string;
  readonly apiKey?: Secret | undefined;
  readonly log: Log;
  /** The only mode in which the server is asked; where absent, Mesh finds out which it understands. */
  readonly mode?: LlmMode | undefined;
  /** For one request from beginning to end, in ms; a second try has it again. */
  readonly timeoutMs?: number | undefined;
  /** For a stream that has begun to answer and stands still, in ms. */
  readonly idleMs?: number | undefined;
  /** The most tokens that one answer may have. */
  readonly maxTokens?: number | undefined;
  /** Receives every request when it has ended. */
  readonly observe?: ((call: ModelCall) => void) | undefined;
}

interface Bounds {
  readonly signal: AbortSignal;
  /** By `performance.now()`. */
  readonly until: number;
}

export type Question = Omit<FormedQuestion, 'model' | 'maxTokens'> & {
  readonly signal: AbortSignal;
  readonly onCall?: ((call: ModelCall) => void) | undefined;
  /** All tries together end within so many ms. */
  readonly withinMs?: number | undefined;
};

/** For one request, unless it is set. */
export const TIMEOUT_MS = 30_000;
const IDLE_MS = 15_000;
const MAX_ANSWER_TOKENS = 8_000;
/** A stream repeats about 300 bytes with each token, also for the tokens of reasoning that are not read. */
const MAX_BODY = 8 * 1024 * 1024;
const RETRY_MS = 300;
/** A server that asks for more patience than this is unavailable. */
const MAX_RETRY_MS = 5_000;
/** Some servers refuse an empty key, though they need none. */
const NO_KEY = 'none';

/** A server that speaks the chat completions of OpenAI. Remembers which options it understands. */
export function openAiChat({
  baseURL,
  model,
  apiKey,
  log,
  mode,
  observe,
  maxTokens = MAX_ANSWER_TOKENS,
  ...times
}: ChatOptions) {
  const { timeoutMs = TIMEOUT_MS, idleMs = Math.min(IDLE_MS, timeoutMs) } = times;
  let dialect: Dialect = mode ? { ...FIRST_DIALECT, mode } : FIRST_DIALECT;
  const client = new OpenAI({
    baseURL,
    apiKey: apiKey?.reveal() ?? NO_KEY,
    organization: null,
    project: null,
    timeout: timeoutMs,
    maxRetries: 0,
    logLevel: 'off',
    fetch: boundedFetch,
  });

  async function once(question: FormedQuestion, { signal, until }: Bounds): Promise<Reply> {
    const left = Math.min(timeoutMs, until - performance.now());
    if (left <= 0) throw new DOMException('no time is left', 'TimeoutError');
    const idle = new AbortController();
    const whole = AbortSignal.any([signal, idle.signal, AbortSignal.timeout(Math.ceil(left))]);
    let timer: NodeJS.Timeout | undefined;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => idle.abort(new DOMException('idle', 'TimeoutError')), idleMs);
    };
    try {
      const response = await client.chat.completions
        .create(paramsOf(question, dialect), { signal: whole })
        .asResponse();
      return await readReply(response, heard);
    } catch (error) {
      throw whole.aborted ? whole.reason : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Asks until the server understands the form of the request; what it learned holds for the next question. */
  async function understood(question: FormedQuestion, bounds: Bounds): Promise<Reply> {
    const asked = { isModeFixed: mode !== undefined, hasTools: question.tools !== undefined };
    for (let left = MAX_ADJUSTMENTS; ; left--) {
      let next: Dialect | undefined;
      try {
        const reply = await once(question, bounds);
        next = left > 0 && question.schema && isText(reply) ? insisting(dialect) : undefined;
        if (!next) return reply;
      } catch (error) {
        next = left > 0 && isRejection(error) ? adjusted(dialect, complaintOf(error), asked) : undefined;
        if (!next) throw error;
      }
      dialect = next;
      log.info({ model, ...dialect }, 'the model server understands another form of request');
    }
  }

  async function timed({ onCall, signal, withinMs: _, ...question }: Question, until: number): Promise<Reply> {
    const started = performance.now();
    const report = (outcome: ModelCall['outcome'], reply?: Reply) => {
      const { promptTokens, completionTokens } = reply ?? {};
      const call: ModelCall = {
        model,
        mode: dialect.mode,
        outcome,
        milliseconds: Math.round(performance.now() - started),
        ...(promptTokens !== undefined && { promptTokens }),
        ...(completionTokens !== undefined && { completionTokens }),
      };
      observe?.(call);
      onCall?.(call);
    };
    try {
      const reply = await understood({ ...question, model, maxTokens }, { signal, until });
      report('answered', reply);
      return reply;
    } catch (error) {
      report('failed');
      throw error;
    }
  }

  return {
    model,
    /** @throws MeshError `unavailable` with what is the matter; never a word of the request or of the key */
    async ask(question: Question): Promise<Reply> {
      const { signal, withinMs = Number.POSITIVE_INFINITY } = question;
      const until = performance.now() + withinMs;
      try {
        try {
          return await timed(question, until);
        } catch (error) {
          const wait = signal.aborted ? undefined : retryAfter(error);
          if (wait === undefined) throw error;
          await after(wait, undefined, { signal });
          return await timed(question, until);
        }
      } catch (error) {
        if (signal.aborted) throw new MeshError('unavailable', 'The request was cancelled.');
        const { reason, message } = failureOf(error);
        const status = error instanceof APIError ? error.status : undefined;
        log.warn({ model, status, reason }, 'the model does not answer');
        throw new MeshError('unavailable', message, { reason });
      }
    },
  };
}

/** Never follows a server elsewhere, and never reads more of it than {@link MAX_BODY}, errors included. */
async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'error' });
  let left = MAX_BODY;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.byteLength;
      if (left < 0) controller.error(new ReplyError('too_large'));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body?.pipeThrough(bound) ?? null, { status, statusText, headers });
}

/** A text where a call of the tool was asked for. */
function isText({ isToolCall, refusal, finish }: Reply): boolean {
  return !isToolCall && refusal === undefined && finish !== 'content_filter';
}

/** Returns true if the server objects to the request itself. Some servers answer 500 to a field that they do not know; then they name it. */
function isRejection(error: unknown): error is APIError {
  if (!(error instanceof APIError)) return false;
  const { status } = error;
  return status === 400 || status === 422 || (status === 500 && /response_format|tool_choice/.test(complaintOf(error)));
}

function complaintOf({ param, message }: APIError): string {
  return `${param ?? ''} ${message}`.slice(0, 2_000);
}

/** How long to wait before the one second try; undefined where there is none. A timeout has cost enough already. */
function retryAfter(error: unknown): number | undefined {
  if (error instanceof ReplyError) return error.failure === 'cut' || error.failure === 'failed' ? RETRY_MS : undefined;
  if (error instanceof APIConnectionTimeoutError || isTimeout(error)) return undefined;
  if (error instanceof APIConnectionError) return RETRY_MS;
  if (!(error instanceof APIError)) return error instanceof TypeError ? RETRY_MS : undefined;
  const { status, headers } = error;
  if (status === undefined || (status !== 429 && status < 500)) return undefined;
  const asked = retryHeader(headers);
  return asked === undefined ? RETRY_MS : asked <= MAX_RETRY_MS ? asked : undefined;
}

function retryHeader(headers: Headers | undefined): number | undefined {
  const milliseconds = Number(headers?.get('retry-after-ms') ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const text = headers?.get('retry-after');
  if (text === undefined || text === null) return undefined;
  const seconds = Number(text);
  const wait = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1_000;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

interface Failure {
  readonly reason: string;
  readonly message: string;
}

const OTHERWISE = 'Try again, say it in one of the ways that need no model, or pass typed changes.';

function failureOf(error: unknown): Failure {
  if (error instanceof APIConnectionTimeoutError || isTimeout(error)) {
    return { reason: 'timeout', message: `The model did not answer in time. ${OTHERWISE}` };
  }
  if (error instanceof ReplyError) return { reason: error.failure, message: `${REPLIES[error.failure]} ${OTHERWISE}` };
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof ReplyError) return failureOf(cause);
  const status = error instanceof APIError ? error.status : undefined;
  if (status === 429) return { reason: 'rate_limited', message: `The model server asks to wait. ${OTHERWISE}` };
  if (status === 401 || status === 403) {
    return {
      reason: 'refused_key',
      message: 'The model server refuses the key: its operator checks MESH_LLM_API_KEY.',
    };
  }
  if (status === 404) {
    return {
      reason: 'unknown_model',
      message:
        'The model server does not know the model or the path: its operator checks MESH_LLM_BASE_URL and MESH_LLM_MODEL.',
    };
  }
  if (error instanceof APIError && status === 400 && /context/i.test(error.message)) {
    return {
      reason: 'context_too_small',
      message: `The question is too long for the model: its operator gives the server a larger context. ${OTHERWISE}`,
    };
  }
  if (status !== undefined && status < 500) {
    return { reason: 'rejected', message: `The model server rejects the request (${status}). ${OTHERWISE}` };
  }
  if (status !== undefined) return { reason: 'failed', message: `The model server fails (${status}). ${OTHERWISE}` };
  return { reason: 'failed', message: `The model server cannot be reached. ${OTHERWISE}` };
}

const REPLIES: Readonly<Record<ReplyError['failure'], string>> = {
  cut: 'The answer of the model broke off.',
  too_large: 'The answer of the model is too large.',
  not_compatible:
    'The model server answers something that is no chat completion: its operator checks MESH_LLM_BASE_URL.',
  failed: 'The model failed while it answered.',
};
