import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import { getOrInsertComputed } from '../../../core/base/get-or-insert.ts';

/** The reply of a model to one request. */
export interface Reply {
  /** The content, or the arguments of the one tool. */
  readonly text: string;
  readonly isToolCall: boolean;
  /** The tools that it asks to call. */
  readonly calls: readonly ToolCall[];
  readonly refusal?: string;
  /** `stop`, `length`, `content_filter`, `tool_calls`; undefined where the server does not say. */
  readonly finish?: string;
  readonly promptTokens?: number;
  readonly completionTokens?: number;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, if the model kept to it. */
  readonly arguments: string;
}

export type ReplyFailure = 'cut' | 'too_large' | 'not_compatible' | 'failed';

/** A body that is no reply. `cut`: it ended in the middle, so asking again may help. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
  readonly failure: ReplyFailure;

  constructor(failure: ReplyFailure) {
    super(failure);
    this.failure = failure;
  }
}

/** More than any plan needs. */
const MAX_TEXT = 256 * 1024;

const usage = z.object({ prompt_tokens: z.int().nonnegative(), completion_tokens: z.int().nonnegative() }).partial();
const part = z.object({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  tool_calls: z
    .array(
      z.object({
        index: z.int().min(0).max(63).nullish(),
        id: z.string().nullish(),
        function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
      }),
    )
    .nullish(),
});
const body = z.object({
  choices: z
    .array(z.object({ delta: part.nullish(), message: part.nullish(), finish_reason: z.string().nullish() }))
    .nullish(),
  usage: usage.nullish(),
  error: z.unknown().optional(),
});

/**
 * Reads a reply, streamed or whole: servers that do not stream answer JSON all the same.
 *
 * `onEvent` is told of each part of the answer, not of the comments by which a server that still reads the question keeps
 * the connection open.
 *
 * @throws ReplyError when it is none; whatever reading throws, when the connection breaks
 */
export async function readReply(response: Response, onEvent: () => void): Promise<Reply> {
  const type = response.headers.get('content-type') ?? '';
  const collected = collector();
  if (type.includes('application/json')) {
    let text = '';
    for await (const chunk of textOf(response)) text += chunk;
    if (!collected.add(text)) throw new ReplyError('not_compatible');
    return collected.reply();
  }
  if (!type.includes('text/event-stream')) throw new ReplyError('not_compatible');
  let isDone = false;
  const parser = createParser({
    onEvent({ data }) {
      onEvent();
      if (data === '[DONE]') isDone = true;
      else if (!isDone && !collected.add(data)) throw new ReplyError('not_compatible');
    },
  });
  for await (const chunk of textOf(response)) {
    parser.feed(chunk);
    if (isDone) break;
  }
  if (!isDone && collected.reply().finish === undefined) throw new ReplyError('cut');
  return collected.reply();
}

async function* textOf({ body: stream }: Response): AsyncGenerator<string> {
  if (!stream) return;
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}

function collector() {
  const found = { content: '', refusal: '' };
  const calls = new Map<number, { id: string; name: string; arguments: string }>();
  let length = 0;
  let finish: string | undefined;
  let counted: z.output<typeof usage> | undefined;
  return {
    /** @returns false for what is no part of a completion */
    add(text: string): boolean {
      const parsed = body.safeParse(jsonOf(text));
      if (!parsed.success) return false;
      const { choices, usage: tokens, error } = parsed.data;
      if (error !== undefined && error !== null) throw new ReplyError('failed');
      if (tokens) counted = tokens;
      const [choice] = choices ?? [];
      const { content, refusal, tool_calls: tools } = choice?.delta ?? choice?.message ?? {};
      found.content += content ?? '';
      found.refusal += refusal ?? '';
      for (const [place, { index, id, function: called }] of (tools ?? []).entries()) {
        const call = getOrInsertComputed(calls, index ?? place, () => ({ id: '', name: '', arguments: '' }));
        call.id ||= id ?? '';
        call.name ||= called?.name ?? '';
        call.arguments += called?.arguments ?? '';
        length += called?.arguments?.length ?? 0;
      }
      finish = choice?.finish_reason ?? finish;
      if (found.content.length + found.refusal.length + length > MAX_TEXT) throw new ReplyError('too_large');
      return choices !== undefined || tokens !== undefined;
    },
    reply(): Reply {
      const inOrder = [...calls].sort(([a], [b]) => a - b).map(([, call]) => call);
      const [first] = inOrder;
      return {
        text: first?.arguments || found.content,
        isToolCall: (first?.arguments ?? '') !== '',
        calls: inOrder,
        ...(found.refusal !== '' && { refusal: found.refusal }),
        ...(finish !== undefined && { finish }),
        ...(counted?.prompt_tokens !== undefined && { promptTokens: counted.prompt_tokens }),
        ...(counted?.completion_tokens !== undefined && { completionTokens: counted.completion_tokens }),
      };
    },
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
