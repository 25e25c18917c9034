import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { headersOf } from '../../core/webhooks/message.ts';
import { newSigningSecret } from '../../core/webhooks/secret.ts';
import { startReceiver } from '../../test/kits/http/receiver.ts';
import { buildSender, parseRetryAfter, type SenderOptions } from './post.ts';

const LOOPBACK = ['127.0.0.0/8'];
const ok = (response: ServerResponse) => response.writeHead(204).end();
const never = () => new AbortController().signal;

function sendTo(url: string, options: Partial<SenderOptions> = {}, headers: Readonly<Record<string, string>> = {}) {
  return buildSender({ allow: LOOPBACK, ...options }).send({ url, headers, body: '{"type":"webhook.test"}' }, never());
}

test('a receiver that checks with the library of Standard Webhooks takes what is sent, by the old secret too', async () => {
  await using receiver = await startReceiver(ok);
  const secrets = [newSigningSecret(), newSigningSecret()];
  const body = '{"type":"webhook.test","name":"Zürich"}';
  const headers = headersOf({ id: 'whd_1', body, at: Date.now() }, secrets);
  const url = `http://127.0.0.1:${receiver.port}/hook?key=1`;
  const sent = await buildSender({ allow: LOOPBACK }).send({ url, headers, body }, never());
  expect(sent).toEqual({ kind: 'answered', status: 204, text: '' });
  const [request] = receiver.received;
  if (!request) throw new Error('nothing was received');
  expect([request.url, request.headers['host']]).toEqual(['/hook?key=1', `127.0.0.1:${receiver.port}`]);
  for (const secret of secrets) {
    expect(new Webhook(secret.reveal()).verify(request.body, request.headers)).toEqual(JSON.parse(body));
  }
  expect(() => new Webhook(newSigningSecret().reveal()).verify(request.body, request.headers)).toThrow();
  expect(() => new Webhook(secrets[0]?.reveal() ?? '').verify(`${request.body} `, request.headers)).toThrow();
});

test('a receiver on the loopback gets nothing unless it is allowed', async () => {
  await using receiver = await startReceiver(ok);
  const resolve = async () => ['127.0.0.1'];
  const url = `https://hooks.example.com:${receiver.port}/`;
  expect(await sendTo(url, { allow: [], resolve })).toMatchObject({
    kind: 'failed',
    error: expect.stringContaining('not on the internet'),
  });
  expect(await sendTo(`http://127.0.0.1:${receiver.port}/`, { allow: [] })).toMatchObject({ kind: 'failed' });
  expect(receiver.received).toEqual([]);
});

test('a name with one public and one private address is refused', async () => {
  const resolve = async () => ['93.184.215.14', '10.0.0.1'];
  const sent = await sendTo('https://hooks.example.com/', { allow: [], resolve });
  expect(sent).toMatchObject({ kind: 'failed', error: expect.stringContaining('not on the internet') });
});

test('the connection goes to the address that was judged, though the name means another one by then', async () => {
  await using receiver = await startReceiver(ok);
  const answers = [['127.0.0.1'], ['10.0.0.1']];
  let asked = 0;
  const resolve = async () => answers[asked++] ?? [];
  const url = `http://hooks.example.com:${receiver.port}/`;
  expect(await sendTo(url, { resolve })).toMatchObject({ kind: 'answered', status: 204 });
  expect([asked, receiver.received[0]?.headers['host']]).toEqual([1, `hooks.example.com:${receiver.port}`]);
  expect(await sendTo(url, { resolve })).toMatchObject({ kind: 'failed' });
  expect(receiver.received).toHaveLength(1);
});

test('a redirect, to the loopback or elsewhere, is an answer and not followed', async () => {
  await using inside = await startReceiver(ok);
  await using receiver = await startReceiver((response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${inside.port}/` }).end();
  });
  expect(await sendTo(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ kind: 'answered', status: 302 });
  expect(inside.received).toEqual([]);
});

test('of an answer of 10 MB the beginning is read, and its status counts', async () => {
  let cut = false;
  await using receiver = await startReceiver((response) => {
    response.on('close', () => {
      cut = !response.writableFinished;
    });
    response.writeHead(200).end('a\n\u001b[31m'.repeat(1_500_000));
  });
  const sent = await sendTo(`http://127.0.0.1:${receiver.port}/`);
  expect(sent).toMatchObject({ kind: 'answered', status: 200, text: expect.stringMatching(/^[\x20-\x7e]{100,512}$/) });
  await expect.poll(() => cut).toBe(true);
});

test('a receiver that never answers, or never ends its answer, is given up', async () => {
  const limits = { totalMs: 50 };
  await using silent = await startReceiver(() => undefined);
  await using endless = await startReceiver((response) => response.writeHead(200).write('a'));
  for (const { port } of [silent, endless]) {
    const sent = await sendTo(`http://127.0.0.1:${port}/`, { limits });
    expect(sent).toEqual({ kind: 'failed', error: 'There was no answer within 0.05 s.' });
  }
});

test('a name server that never answers is given up', async () => {
  const resolve = (_: string, signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const sent = await sendTo('https://hooks.example.com/', { resolve, limits: { totalMs: 50 } });
  expect(sent).toEqual({ kind: 'failed', error: 'There was no answer within 0.05 s.' });
});

test('a port that nobody listens on, and a name that is not there, fail in words', async () => {
  const receiver = await startReceiver(ok);
  await receiver[Symbol.asyncDispose]();
  const down = await sendTo(`http://127.0.0.1:${receiver.port}/`);
  expect(down).toEqual({ kind: 'failed', error: 'The request failed: ECONNREFUSED.' });
  const resolve = async () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
  const unknown = await sendTo('https://hooks.example.com/', { resolve });
  expect(unknown).toEqual({ kind: 'failed', error: 'hooks.example.com cannot be looked up: ENOTFOUND.' });
});

test('what the control plane gives up at its end is thrown, so that nothing is written of it', async () => {
  await using receiver = await startReceiver(() => undefined);
  const aborter = new AbortController();
  const url = `http://127.0.0.1:${receiver.port}/`;
  const sent = buildSender({ allow: LOOPBACK }).send({ url, headers: {}, body: '{}' }, aborter.signal);
  await expect.poll(() => receiver.received.length).toBe(1);
  aborter.abort(new Error('the end'));
  await expect(sent).rejects.toThrow('the end');
});

test.each([
  ['120', 120_000],
  ['0', 0],
  ['Mon, 05 Jan 2026 12:01:00 GMT', 60_000],
  ['Mon, 05 Jan 2026 11:00:00 GMT', 0],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %j means %j ms', (text, ms) => {
  expect(parseRetryAfter(text, Date.UTC(2026, 0, 5, 12))).toBe(ms);
});
