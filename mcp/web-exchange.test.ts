import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { sendWebResponse, webRequest } from './web-exchange.ts';

async function serve(answer: (response: ServerResponse) => unknown) {
  const server = createServer((_request, response) => void answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A body that a test writes to, and that notes that its reader has left. */
function writtenBody() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const left = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    start: (made) => {
      controller = made;
    },
    cancel: () => left.resolve(),
  });
  return { body, left: left.promise, controller: () => controller as ReadableStreamDefaultController<Uint8Array> };
}

it('shows the head of a stream that is silent yet', async () => {
  const { body, controller } = writtenBody();
  using server = await serve((response) => sendWebResponse(new Response(body, { status: 203 }), response));
  const answer = await fetch(server.url);
  expect(answer.status).toBe(203);
  controller().enqueue(new TextEncoder().encode('late'));
  controller().close();
  expect(await answer.text()).toBe('late');
});

it('sends a body that is larger than any buffer whole', async () => {
  const text = 'x'.repeat(5_000_000);
  using server = await serve((response) => sendWebResponse(new Response(text), response));
  expect((await (await fetch(server.url)).text()).length).toBe(text.length);
});

it('cuts a body that fails, so that nobody takes the part for the whole', async () => {
  const { body, controller } = writtenBody();
  using server = await serve((response) => sendWebResponse(new Response(body), response));
  const answer = await fetch(server.url);
  controller().error(new Error('lost'));
  await expect(answer.text()).rejects.toThrow();
});

it.each(['before it was sent', 'meanwhile'])('leaves a stream whose caller went %s', async (when) => {
  const { body, left } = writtenBody();
  using server = await serve(async (response) => {
    if (when !== 'meanwhile') response.destroy();
    await sendWebResponse(new Response(body), response);
  });
  const gone = new AbortController();
  const answer = fetch(server.url, { signal: gone.signal });
  if (when === 'meanwhile') {
    await answer;
    gone.abort();
  }
  await Promise.all([left, answer.catch(() => undefined)]);
});

it('hands the SDK the headers that it reads, and no credential', () => {
  const headers = { host: 'a', authorization: 'Bearer b', accept: 'c', 'mcp-session-id': 'd' };
  const request = webRequest({ method: 'POST', headers });
  expect([request.method, Object.fromEntries(request.headers)]).toEqual([
    'POST',
    { accept: 'application/json, text/event-stream', 'mcp-session-id': 'd' },
  ]);
});
