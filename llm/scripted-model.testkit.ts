import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the server does with one request. A string is the content of a well-formed answer. */
export type Step =
  | string
  | { readonly status: number }
  | { readonly refusal: string }
  | { readonly finish: 'length' | 'content_filter' }
  | { readonly raw: string }
  | 'hang'
  | 'cut';

export interface Seen {
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly response_format: { readonly json_schema: { readonly strict: boolean } };
  };
}

/** An OpenAI-compatible server on loopback that answers by a script, and misbehaves by it. */
export async function scriptedModel(steps: readonly Step[]) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void receive(request).then((text) => {
      seen.push({ authorization: request.headers.authorization, body: JSON.parse(text) });
      respond(steps[seen.length - 1] ?? { status: 500 }, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function receive(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

function respond(step: Step, response: ServerResponse): void {
  if (step === 'hang') return;
  if (step === 'cut') {
    response.socket?.destroy();
    return;
  }
  const choice = (message: object, finish = 'stop') => ({
    index: 0,
    message: { role: 'assistant', ...message },
    finish_reason: finish,
  });
  const send = (body: string, status = 200) => {
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': '1' });
    response.end(body);
  };
  const complete = (one: object) =>
    send(JSON.stringify({ id: 'c', object: 'chat.completion', created: 0, model: 'm', choices: [one] }));
  if (typeof step === 'string') complete(choice({ content: step }));
  else if ('status' in step) send('{"error":{"message":"no"}}', step.status);
  else if ('refusal' in step) complete(choice({ content: null, refusal: step.refusal }));
  else if ('finish' in step) complete(choice({ content: '{"understood":tr' }, step.finish));
  else send(step.raw);
}
