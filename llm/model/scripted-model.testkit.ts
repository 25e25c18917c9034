import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LlmMode } from './openai/dialect.ts';
import { strictFlaws } from './strict-schema.testkit.ts';

/** The reaction of the server to one request. A string is the answer of the model. */
export type Step =
  | string
  /** An answer made from the request. */
  | ((request: Seen) => string)
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | { readonly refusal: string }
  /** Asks to call tools. */
  | { readonly calls: readonly { readonly name: string; readonly arguments: string }[] }
  | { readonly finish: 'length' | 'content_filter'; readonly text?: string }
  /** In one piece, by a server that does not stream. */
  | { readonly whole: string }
  | { readonly raw: string; readonly type?: string }
  | { readonly bytes: number; readonly type: string }
  /** Answers in one piece after so many ms, and until then sends comments that keep the connection open. */
  | { readonly whole: string; readonly readsForMs: number }
  /** Answers with text, though a tool is to be called. */
  | { readonly text: string }
  /** Says nothing at all. */
  | 'hang'
  /** Begins to answer and then says nothing more. */
  | 'stall'
  /** Drops the connection at once. */
  | 'cut'
  /** Drops the connection in the middle of the answer. */
  | 'break'
  /** Says in the stream that it failed. */
  | 'fail'
  /** Ends the stream in the middle of the answer, in good order. */
  | 'end';

export interface Seen {
  readonly authorization: string | undefined;
  readonly path: string;
  readonly body: {
    readonly model: string;
    readonly stream: boolean;
    readonly messages: readonly {
      readonly role: string;
      readonly content: string;
      readonly tool_calls?: readonly { readonly id: string }[];
      readonly tool_call_id?: string;
    }[];
    readonly response_format?: {
      readonly type: string;
      readonly json_schema?: { readonly strict: boolean; readonly schema: object };
    };
    readonly tools?: readonly {
      readonly function: { readonly name: string; readonly parameters: object; readonly strict?: boolean };
    }[];
    readonly tool_choice?: unknown;
    readonly max_tokens?: number;
    readonly max_completion_tokens?: number;
    readonly stream_options?: object;
  };
}

/** Parts of the protocol that the server knows. Others it refuses with a 400 that names them. */
export interface Knows {
  readonly modes?: readonly LlmMode[];
  readonly maxCompletionTokens?: boolean;
  readonly maxTokens?: boolean;
  readonly streamOptions?: boolean;
}

/** An OpenAI-compatible server on loopback that answers by a script, checks what it is asked, and misbehaves by its script. */
export async function scriptedModel(steps: readonly Step[] | ((request: Seen) => Step), knows: Knows = {}) {
  const seen: Seen[] = [];
  /** Requests that were refused before the script was asked. */
  const refused: string[] = [];
  const open = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    open.add(response);
    response.once('close', () => open.delete(response));
    void receive(request).then((text) => {
      const one: Seen = {
        authorization: request.headers.authorization,
        path: request.url ?? '',
        body: JSON.parse(text),
      };
      const flaw = flawOf(one, knows);
      if (flaw) {
        refused.push(flaw.param);
        const error = {
          message: `Unsupported parameter: '${flaw.param}': ${flaw.why}`,
          type: 'invalid_request_error',
          param: flaw.param,
        };
        send(response, JSON.stringify({ error }), 400);
        return;
      }
      seen.push(one);
      const step = typeof steps === 'function' ? steps(one) : (steps[seen.length - 1] ?? { status: 500 });
      respond(typeof step === 'function' ? step(one) : step, one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    seen,
    refused,
    /** Requests that have not been answered in full, and whose client is still there. */
    open: () => open.size,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Flaw {
  readonly param: string;
  readonly why: string;
}

function flawOf({ body }: Seen, knows: Knows): Flaw | undefined {
  const {
    modes = ['json_schema', 'tool', 'json_object'],
    maxCompletionTokens = true,
    maxTokens = true,
    streamOptions = true,
  } = knows;
  const not = (param: string, why = 'not supported by this model'): Flaw => ({ param, why });
  if (body.stream_options && !streamOptions) return not('stream_options');
  if (body.max_completion_tokens !== undefined && !maxCompletionTokens) return not('max_completion_tokens');
  if (body.max_tokens !== undefined && !maxTokens) return not('max_tokens');
  const format = body.response_format?.type;
  if (format !== undefined && !(modes as readonly string[]).includes(format)) return not('response_format');
  if (body.tools && !modes.includes('tool')) return not('tools');
  if (format === 'json_object' && !body.messages.some(({ content }) => /json/i.test(content))) {
    return not('messages', "must contain the word 'json'");
  }
  const called = new Set(body.messages.flatMap(({ tool_calls: calls }) => calls?.map(({ id }) => id) ?? []));
  const answered = body.messages.flatMap(({ tool_call_id: id }) => id ?? []);
  if (called.size !== answered.length || answered.some((id) => !called.has(id))) {
    return not('messages', 'each tool call must be followed by its answer');
  }
  const said = body.messages.filter(({ role, tool_calls: calls }) => role !== 'tool' && !calls);
  if (!said.every(({ role }, at) => at === 0 || role === (at % 2 === 1 ? 'user' : 'assistant'))) {
    return not('messages', 'roles must alternate user and assistant');
  }
  const [tool] = body.tools ?? [];
  const schema =
    body.response_format?.json_schema?.schema ?? (tool?.function.strict ? tool.function.parameters : undefined);
  const flaws = schema ? strictFlaws(schema) : [];
  return flaws.length > 0 ? not('messages', `Invalid schema: ${flaws.join('; ')}`) : undefined;
}

async function receive(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

const HALF = '{"understood":tr';
const CHUNK = 200;

function respond(step: Exclude<Step, (request: Seen) => string>, request: Seen, response: ServerResponse): void {
  const { body } = request;
  if (step === 'hang') return;
  if (step === 'cut') {
    response.socket?.destroy();
    return;
  }
  const { stream, finish, end } = streamTo(response, body.tools?.[0]?.function.strict === true);
  switch (step) {
    case 'stall':
      stream(HALF);
      return;
    case 'break':
      stream(HALF);
      setImmediate(() => response.socket?.destroy());
      return;
    case 'end':
      stream(HALF);
      response.end();
      return;
    case 'fail':
      stream(HALF);
      response.end('data: {"error":{"message":"overloaded"}}\n\n');
      return;
    default:
  }
  if (typeof step === 'object' && 'calls' in step) {
    for (const [index, { name, arguments: text }] of step.calls.entries()) {
      const id = `call_${body.messages.length}_${index}`;
      const half = Math.ceil(text.length / 2);
      stream('', { content: null, tool_calls: [{ index, id, function: { name, arguments: text.slice(0, half) } }] });
      stream('', { content: null, tool_calls: [{ index, function: { arguments: text.slice(half) } }] });
    }
    finish('tool_calls');
    end();
    return;
  }
  if (typeof step === 'object' && 'readsForMs' in step) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': ping\n\n');
    const event = { choices: [{ index: 0, delta: { content: step.whole }, finish_reason: 'stop' }] };
    setTimeout(() => response.end(`data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`), step.readsForMs);
    return;
  }
  if (typeof step === 'object' && 'text' in step && !('finish' in step)) {
    const { tools: _, ...others } = body;
    respond(step.text, { ...request, body: others }, response);
    return;
  }
  if (typeof step === 'string') {
    for (let at = 0; at < step.length; at += CHUNK) stream(step.slice(at, at + CHUNK));
    finish(body.tools ? 'tool_calls' : 'stop');
    end();
  } else if ('status' in step) {
    send(response, step.body ?? '{"error":{"message":"no"}}', step.status, { 'retry-after-ms': '1', ...step.headers });
  } else if ('refusal' in step) {
    stream('', { refusal: step.refusal });
    finish('stop');
    end();
  } else if ('finish' in step) {
    stream(step.text ?? HALF);
    finish(step.finish);
    end();
  } else if ('whole' in step) {
    const choice = { index: 0, message: { role: 'assistant', content: step.whole }, finish_reason: 'stop' };
    send(response, JSON.stringify({ id: 'c', object: 'chat.completion', choices: [choice], usage: USAGE }));
  } else if ('bytes' in step) {
    response.writeHead(200, { 'content-type': step.type });
    response.end(Buffer.alloc(step.bytes, 'x'));
  } else send(response, step.raw, 200, { 'content-type': step.type ?? 'application/json' });
}

const USAGE = { prompt_tokens: 100, completion_tokens: 20 };

function streamTo(response: ServerResponse, isTool: boolean) {
  const event = (data: object) => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...data })}\n\n`);
  };
  return {
    stream(text: string, more: object = {}) {
      const delta = isTool ? { tool_calls: [{ index: 0, function: { arguments: text } }] } : { content: text };
      event({ choices: [{ index: 0, delta: { ...delta, ...more }, finish_reason: null }] });
    },
    finish(reason: string) {
      event({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
      event({ choices: [], usage: USAGE });
    },
    end() {
      response.end('data: [DONE]\n\n');
    },
  };
}

function send(
  response: ServerResponse,
  body: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body);
}
