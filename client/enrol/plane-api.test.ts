import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { WIRE_TEXT } from '../../core/model/wire.ts';
import { testCertificate } from '../../net/nats/test-certificate.ts';
import { askPatiently, PlaneApi, PlaneAway, PlaneRefusal } from './plane-api.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listening(server: Server): Promise<number> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function plane(answer: RequestListener, signal?: AbortSignal): Promise<PlaneApi> {
  return new PlaneApi(`http://127.0.0.1:${await listening(createServer(answer))}`, 'mesh-dev-x', signal);
}

/** How a call failed. */
const failure = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => ({
      isAway: error instanceof PlaneAway,
      text: (error as Error).message.replace(/:\d+/, ':PORT'),
    }),
  );

describe('the API of the control plane, as a node calls it', () => {
  test('gets the body and the token, and its answer is taken without the fields that are not known', async () => {
    const seen: unknown[] = [];
    const api = await plane(async (request, response) => {
      const body = await text(request);
      const { authorization, 'content-type': type, 'content-length': length } = request.headers;
      seen.push(request.method, request.url, authorization, type, length, body);
      response.end('{"name":"näme","later":1}');
    });
    expect(await api.rename('näme')).toEqual({ name: 'näme' });
    const body = '{"name":"näme"}';
    const length = `${Buffer.byteLength(body)}`;
    const headers = ['Bearer mesh-dev-x', 'application/json', length];
    expect(seen).toEqual(['PATCH', '/api/v1/devices/self', ...headers, body]);
  });

  test('may answer no name of more than a line, and its refusals are one line', async () => {
    const evil = 'web\u001b[31m\nline\u009b2J';
    const named = await plane((_request, response) => response.end(JSON.stringify({ name: evil })));
    expect(await failure(named.rename('web'))).toEqual({
      isAway: true,
      text: 'http://127.0.0.1:PORT answered something else than a control plane does (name)',
    });
    const refusing = await plane((_request, response) => {
      response.statusCode = 409;
      response.end(JSON.stringify({ code: 'conflict', title: evil, detail: evil }));
    });
    const shown = 'web\uFFFD[31m\uFFFDline\uFFFD2J';
    expect(await failure(refusing.rename('web'))).toEqual({ isAway: false, text: `${shown}: ${shown}` });
  });

  test('is asked over a new connection where that is wanted, although one is there', async () => {
    const ports: (number | undefined)[] = [];
    const port = await listening(
      createServer(({ socket }, response) => {
        ports.push(socket.remotePort);
        response.end('{"name":"a"}');
      }),
    );
    const [kept, anew] = [false, true].map(
      (is) => new PlaneApi(`http://127.0.0.1:${port}`, 'mesh-dev-x', undefined, { isAnew: is }),
    );
    for (const api of [kept, kept, anew, anew]) await api?.rename('a');
    expect(ports[1]).toBe(ports[0]);
    expect(new Set(ports).size).toBe(3);
  });

  test('gets no token where none is needed', async () => {
    const seen: unknown[] = [];
    const discovery = { name: 'mesh', controlKey: 'k', signalingUrl: 'nats://plane' };
    const api = await plane((request, response) => {
      seen.push(request.headers.authorization);
      response.end(JSON.stringify(discovery));
    });
    expect([await api.discovery(), ...seen]).toEqual([discovery, undefined]);
  });

  test('is told what it knows, also once another version takes its place', async () => {
    const told: string[] = [];
    let wire = '1';
    const api = await plane(async (request, response) => {
      const sent = Object.keys(JSON.parse((await text(request)) || '{}'));
      if (request.method === 'POST') told.push(`${wire}: ${sent}`);
      const isKnown = wire === '2' || !sent.includes('version');
      response.writeHead(isKnown ? 200 : 400, wire === '1' ? {} : { 'mesh-wire': '1-2' });
      const problem = { code: 'invalid_input', title: 'Invalid input', detail: '/version: There is no such field.' };
      const discovery = { name: 'mesh', controlKey: 'k', signalingUrl: 'nats://plane' };
      response.end(JSON.stringify(isKnown ? { ...discovery, phase: 'ready', version: 7 } : problem));
    });
    const says = { paths: [], version: '0.2.0' };
    await api.heartbeat(says);
    wire = '2';
    await api.heartbeat(says);
    await api.heartbeat(says);
    wire = '1';
    await expect(api.heartbeat(says)).rejects.toMatchObject({ code: 'invalid_input' });
    await api.heartbeat(says);
    expect(told).toEqual(['1: paths', '2: paths', '2: paths,version', '1: paths,version', '1: paths']);
  });

  test('sends a proof by the old key to control planes that take one', async () => {
    const told: string[][] = [];
    let wire = '1-2';
    const api = async () =>
      plane(async (request, response) => {
        const sent = Object.keys(JSON.parse((await text(request)) || '{}'));
        if (request.method === 'POST') told.push(sent);
        const discovery = { name: 'mesh', controlKey: 'k', signalingUrl: 'nats://plane' };
        response.writeHead(200, { 'mesh-wire': wire }).end(JSON.stringify({ ...discovery, deviceToken: 't' }));
      });
    const body = { publicKey: 'k', proof: 'p', oldKeyProof: 'o', deviceToken: 't' };
    await (await api()).rotateKey(body);
    wire = WIRE_TEXT;
    await (await api()).rotateKey(body);
    expect(told).toEqual([
      ['publicKey', 'proof', 'deviceToken'],
      ['publicKey', 'proof', 'oldKeyProof', 'deviceToken'],
    ]);
  });

  test('says no with its own code', async () => {
    const problem = { code: 'conflict', title: 'Conflict', detail: 'the name is taken' };
    const api = await plane((_, response) => response.writeHead(409).end(JSON.stringify(problem)));
    const refusal = await api.rename('x').catch((error: unknown) => error);
    expect(refusal).toEqual(new PlaneRefusal(409, 'conflict', 'Conflict: the name is taken'));
  });

  test.each<[string, RequestListener, string]>([
    [
      'leads elsewhere',
      (_, response) => response.writeHead(302, { location: '/' }).end(),
      'answered 302, not as a control plane does',
    ],
    [
      'answers a page',
      (_, response) => response.end('<html>'),
      'answered something else than a control plane does (no JSON)',
    ],
    [
      'answers a field too few',
      (_, response) => response.end('{}'),
      'answered something else than a control plane does (deleted)',
    ],
    [
      'breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': 9 }).write('{');
        setImmediate(() => response.destroy());
      },
      'broke off its answer (ECONNRESET)',
    ],
    ['ends at once', (request) => request.destroy(), 'does not answer (ECONNRESET)'],
  ])('that %s is not taken for a control plane', async (_what, answer, text) => {
    expect(await failure((await plane(answer)).leave())).toEqual({
      isAway: true,
      text: `http://127.0.0.1:PORT ${text}`,
    });
  });

  test('that is not there is named with the reason', async () => {
    const server = createServer();
    const port = await listening(server);
    server.close();
    await once(server, 'close');
    const text = 'http://127.0.0.1:PORT does not answer (ECONNREFUSED)';
    expect(await failure(new PlaneApi(`http://127.0.0.1:${port}`).discovery())).toEqual({ isAway: true, text });
  });

  test('is left when the node ends', async () => {
    const ending = new AbortController();
    const api = await plane(() => ending.abort(new Error('the node ends')), ending.signal);
    const text = 'http://127.0.0.1:PORT does not answer (the node ends)';
    expect(await failure(api.graph())).toEqual({ isAway: true, text });
  });

  test('is refused over TLS when nobody vouches for its certificate', async () => {
    const port = await listening(createTlsServer(testCertificate, (_, response) => response.end('{"name":"x"}')));
    const text = 'https://127.0.0.1:PORT does not answer (DEPTH_ZERO_SELF_SIGNED_CERT)';
    expect(await failure(new PlaneApi(`https://127.0.0.1:${port}`).rename('x'))).toEqual({ isAway: true, text });
  });
});

describe('a control plane that does not answer in time', () => {
  /** Fails so often before it answers; tells how often it was asked. */
  function answering(failures: number, error: Error) {
    let asked = 0;
    const ask = async () => {
      asked += 1;
      if (asked <= failures) throw error;
      return asked;
    };
    return { ask, asked: () => asked };
  }

  test('is asked again, so often and no more', async () => {
    const late = new PlaneAway('late', { isLate: true });
    expect(await askPatiently(answering(2, late).ask, 3)).toBe(3);
    const never = answering(9, late);
    await expect(askPatiently(never.ask, 3)).rejects.toBe(late);
    expect(never.asked()).toBe(3);
  });

  test.each([new PlaneAway('refused the connection'), new PlaneRefusal(403, 'forbidden', 'no')])(
    'is another one than one that fails at once: %s',
    async (error) => {
      const failing = answering(1, error);
      await expect(askPatiently(failing.ask, 3)).rejects.toBe(error);
      expect(failing.asked()).toBe(1);
    },
  );

  test('is told from one that refuses the connection, and where', async () => {
    const port = await listening(createServer());
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
    await expect(new PlaneApi(`http://127.0.0.1:${port}`).discovery()).rejects.toMatchObject({
      isLate: false,
      tries: [{ address: '127.0.0.1', why: 'refused' }],
    });
  });
});
