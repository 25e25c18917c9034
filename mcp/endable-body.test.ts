import { expect, test } from 'vitest';
import { endableBody } from './endable-body.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('a body passes through, and its reader leaving reaches the original', async () => {
  let left: unknown;
  const original = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes('a')),
    cancel: (reason) => {
      left = reason;
    },
  });
  const reader = endableBody(original).body.getReader();
  expect((await reader.read()).value).toEqual(bytes('a'));
  await reader.cancel('gone');
  expect(left).toBe('gone');
  expect(await new Response(endableBody(new Blob(['whole']).stream()).body).text()).toBe('whole');
});

test('a body that was ended gives its last chunk and nothing that came after it', async () => {
  let push: (text: string) => void = () => undefined;
  let left = false;
  const original = new ReadableStream<Uint8Array>({
    start: (controller) => {
      push = (text) => controller.enqueue(bytes(text));
    },
    cancel: () => {
      left = true;
    },
  });
  const { body, end } = endableBody(original);
  const reader = body.getReader();
  push('before');
  expect((await reader.read()).value).toEqual(bytes('before'));
  const next = reader.read();
  end('last');
  end('again');
  expect(left).toBe(true);
  expect((await next).value).toEqual(bytes('last'));
  expect((await reader.read()).done).toBe(true);
});
