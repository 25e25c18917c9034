import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { AppOptions } from './app.ts';
import { callerWith, gateOf, startTestPlane, type TestPlane } from './plane.testkit.ts';

const json = (body: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body,
});

async function problemOf(response: Response) {
  const type = response.headers.get('content-type');
  return { type, problem: (await response.json()) as Record<string, unknown> };
}

async function codeOf(plane: TestPlane, path: string, init?: RequestInit) {
  const response = await plane.send(path, init);
  const { type, problem } = await problemOf(response);
  expect(type).toBe('application/problem+json; charset=utf-8');
  expect(problem['status']).toBe(response.status);
  return [response.status, problem['code']];
}

describe('an answer', () => {
  test('has coerced query fields and the workspace of the token', async () => {
    await using plane = await startTestPlane();
    const response = await plane.send('/api/v1/echo?text=a%20b&count=3&flag=true&tags=x&tags=y');
    expect(await response.json()).toEqual({
      text: 'a b',
      count: 3,
      flag: true,
      tags: ['x', 'y'],
      workspace: 'w_1',
    });
    expect(await (await plane.send('/api/v1/echo?tags=only')).json()).toMatchObject({ tags: ['only'] });
  });

  test('takes path parameters, and a literal segment before a parameter', async () => {
    await using plane = await startTestPlane();
    const thing = await plane.send('/api/v1/workspaces/one/things/a%2Fb');
    expect(await thing.json()).toEqual({ thing: 'a/b', workspace: 'w_1' });
    expect(await (await plane.send('/api/v1/workspaces/w_1/things/diff')).json()).toEqual({ diff: true });
  });

  test('has the status and envelope of its operation, from JSON and from YAML', async () => {
    await using plane = await startTestPlane();
    const response = await plane.send('/api/v1/things', json('{"name":"x"}'));
    expect([response.status, await response.json()]).toEqual([201, { data: { name: 'x' } }]);
    const yaml = { method: 'POST', headers: { 'content-type': 'application/yaml' }, body: 'kind: X\n' };
    expect(await (await plane.send('/api/v1/things', yaml)).json()).toEqual({ data: { manifest: 'kind: X\n' } });
  });

  test('carries the security headers and the request id of the caller, or a fresh one', async () => {
    await using plane = await startTestPlane();
    const given = await plane.send('/api/v1/echo', { headers: { 'x-request-id': 'trace-12345678' } });
    expect(given.headers.get('x-request-id')).toBe('trace-12345678');
    const odd = await plane.send('/api/v1/echo', { headers: { 'x-request-id': 'a b"c' } });
    expect(odd.headers.get('x-request-id')).toMatch(/^r_[a-z2-7]{26}$/);
    expect(odd.headers.get('x-content-type-options')).toBe('nosniff');
    expect(odd.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(odd.headers.get('x-powered-by')).toBeNull();
  });
});

describe('a mistake is a problem', () => {
  test.each([
    ['no token', '/api/v1/echo', { headers: { authorization: '' } }, 401, 'unauthenticated'],
    ['an unknown token', '/api/v1/echo', { headers: { authorization: 'Bearer x' } }, 401, 'unauthenticated'],
    ['a token without the scope', '/api/v1/echo', { headers: { authorization: 'Bearer blind' } }, 403, 'forbidden'],
    ['another workspace', '/api/v1/workspaces/w_2/things/a', {}, 404, 'not_found'],
    [
      'two workspaces, one of another',
      '/api/v1/workspaces/w_1/things/a',
      { headers: { 'x-workspace-id': 'w_2' } },
      404,
      'not_found',
    ],
    ['an unknown field', '/api/v1/echo?nope=1', {}, 400, 'invalid_input'],
    ['a wrong type', '/api/v1/echo?count=many', {}, 400, 'invalid_input'],
    ['a broken percent sign', '/api/v1/workspaces/w_1/things/%E0%A4%A', {}, 400, 'invalid_input'],
    ['malformed JSON', '/api/v1/things', json('{"name":'), 400, 'invalid_input'],
    ['an array as body', '/api/v1/things', json('[1]'), 400, 'invalid_input'],
    ['a polluting key', '/api/v1/things', json('{"name":"x","__proto__":{"a":1}}'), 400, 'invalid_input'],
    ['an escaped polluting key', '/api/v1/things', json('{"\\u005f_proto__":{"a":1}}'), 400, 'invalid_input'],
    [
      'a form',
      '/api/v1/things',
      { method: 'POST', body: new URLSearchParams({ a: '1' }) },
      415,
      'unsupported_media_type',
    ],
    [
      'a body of 2 MB',
      '/api/v1/things',
      json(JSON.stringify({ name: 'x'.repeat(2_000_000) })),
      413,
      'payload_too_large',
    ],
    ['an unknown route', '/api/v1/nowhere', {}, 404, 'not_found'],
    ['an unknown path', '/nowhere', {}, 404, 'not_found'],
    ['a wrong method', '/api/v1/echo', { method: 'DELETE' }, 405, 'method_not_allowed'],
    ['a bug', '/api/v1/break', json('{}'), 500, 'internal'],
  ] satisfies [string, string, RequestInit, number, string][])('%s', async (_title, path, init, status, code) => {
    await using plane = await startTestPlane();
    expect(await codeOf(plane, path, init)).toEqual([status, code]);
  });

  test('that names each wrong field, the request and its path without the query', async () => {
    await using plane = await startTestPlane();
    const response = await plane.send('/api/v1/echo?nope=1', { headers: { 'x-request-id': 'trace-12345678' } });
    expect((await problemOf(response)).problem).toEqual({
      type: 'urn:mesh:problem:invalid_input',
      title: 'Invalid input',
      status: 400,
      detail: '/nope: There is no such field; there are text, count, flag, tags.',
      instance: '/api/v1/echo',
      requestId: 'trace-12345678',
      errors: [{ pointer: '/nope', detail: 'There is no such field; there are text, count, flag, tags.' }],
      code: 'invalid_input',
    });
  });

  test('also when the failure cannot be logged, whoever was to answer', async () => {
    const full = () => {
      throw new Error('ENOSPC: no space left on device, write');
    };
    const log = { debug: full, info: full, warn: full, error: full };
    const dashboard = () => {
      throw new Error('a bug');
    };
    const faces: Partial<AppOptions>[] = [{}, { trustProxy: 1 }];
    for (const face of faces) {
      await using plane = await startTestPlane({ log, dashboard, ...face });
      for (const path of ['/nowhere', '/api/v1/nowhere']) {
        const { problem } = await problemOf(await plane.send(path));
        expect([path, problem['code']]).toEqual([path, path === '/nowhere' ? 'internal' : 'not_found']);
      }
    }
  });

  test('that withholds the message of a bug', async () => {
    await using plane = await startTestPlane();
    expect(await (await plane.send('/api/v1/break', json('{}'))).text()).not.toContain('hunter2');
  });

  test('that says how to go on: WWW-Authenticate, Retry-After, Allow', async () => {
    await using plane = await startTestPlane();
    const anonymous = await plane.send('/api/v1/echo', { headers: { authorization: '' } });
    expect(anonymous.headers.get('www-authenticate')).toBe('Bearer realm="mesh"');
    expect((await plane.send('/api/v1/refuse', json('{}'))).headers.get('retry-after')).toBe('7');
    expect((await plane.send('/api/v1/echo', { method: 'PUT' })).headers.get('allow')).toBe('GET');
  });

  test('also when a small compressed body grows past the limit', async () => {
    await using plane = await startTestPlane();
    const body = gzipSync(JSON.stringify({ name: 'x'.repeat(2_000_000) }));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    expect(await codeOf(plane, '/api/v1/things', { method: 'POST', headers, body })).toEqual([
      413,
      'payload_too_large',
    ]);
  });

  test('also when the bytes are no HTTP request', async () => {
    await using plane = await startTestPlane();
    const socket = connect(plane.server.port, '127.0.0.1');
    socket.end('not http at all\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
    expect(answer).toContain('"code":"invalid_input"');
  });

  test('when the store does not answer /readyz', async () => {
    await using plane = await startTestPlane({
      ready: async () => [{ name: 'store', state: 'failed', detail: 'a small write failed.' }],
    });
    expect(await codeOf(plane, '/readyz')).toEqual([503, 'unavailable']);
    expect((await plane.send('/healthz')).status).toBe(200);
  });

  test('when one source asks too often, says when to come back, and ends its connection', async () => {
    await using plane = await startTestPlane({ limits: { rate: { perMinute: 2, limitLoopback: true } } });
    const anonymous = { headers: { authorization: '' } };
    await plane.send('/healthz', anonymous);
    expect((await plane.send('/healthz', anonymous)).headers.get('connection')).toBe('keep-alive');
    const response = await plane.send('/api/v1/echo', anonymous);
    expect([response.status, Number(response.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(response.headers.get('connection')).toBe('close');
    expect((await problemOf(response)).problem['code']).toBe('rate_limited');
  });
});

test('one address without a credential takes nothing from the principals behind it, nor one of these from another', async () => {
  const gate = gateOf({ reader: callerWith(['network:read']), other: callerWith(['network:read'], { id: 'u_other' }) });
  await using plane = await startTestPlane({ gate, limits: { rate: { perMinute: 1, limitLoopback: true } } });
  const ask = async (bearer: string) => {
    const authorization = bearer === '' ? '' : `Bearer ${bearer}`;
    return (await plane.send('/api/v1/echo', { headers: { authorization } })).status;
  };
  expect([await ask(''), await ask(''), await ask('made up')]).toEqual([401, 429, 429]);
  const greedy: number[] = [];
  for (let count = 0; count < 6; count += 1) greedy.push(await ask('reader'));
  expect(greedy).toEqual([200, 200, 200, 200, 200, 429]);
  expect(await ask('other')).toBe(200);
});

test('metrics count requests by operation and status', async () => {
  await using plane = await startTestPlane();
  await (await plane.send('/api/v1/echo')).json();
  await (await plane.send('/api/v1/echo?nope=1')).json();
  const lines = (await (await plane.send('/metrics')).text()).split('\n');
  expect(lines).toContain('mesh_http_request_duration_seconds_count{operation="echo_query",status="200"} 1');
  expect(lines).toContain('mesh_http_request_duration_seconds_count{operation="echo_query",status="400"} 1');
});
