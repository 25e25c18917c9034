import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HostPort } from '../../net/host-port.ts';
import { createMetrics } from '../../rest/metrics.ts';
import { processMetrics } from './process-metrics.ts';
import type { RunningListener } from './wire-parts.ts';

/** An answer serves all who ask within this: each costs a connection to the part. */
const CACHE_MS = 1_000;

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/**
 * `/healthz`, `/readyz` and `/metrics` of a part that runs without a control plane, as those of a control plane are. From `ending` on
 * it is not ready, so that whoever balances load sends nobody there any more.
 */
export async function servePartHealth(
  { host, port }: HostPort,
  part: Pick<RunningListener, 'name' | 'check' | 'metrics'>,
) {
  let isEnding = false;
  const metrics = createMetrics();
  const endProcessMetrics = processMetrics(metrics);
  metrics.append(() => part.metrics());
  const ready = cached(async (): Promise<Answer> => {
    const { state, detail } = await part.check();
    return readiness({ name: part.name, state, detail });
  });
  const measured = cached(async (): Promise<Answer> => {
    return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: await metrics.render() };
  });
  const answers: Readonly<Record<string, () => Promise<Answer>>> = {
    '/healthz': async () => json(200, { status: 'ok' }),
    '/readyz': async () =>
      isEnding ? readiness({ name: part.name, state: 'failed', detail: 'it ends: go to another one.' }) : ready(),
    '/metrics': measured,
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://mesh');
    const answer = request.method === 'GET' && Object.hasOwn(answers, pathname) ? answers[pathname] : undefined;
    (answer?.() ?? Promise.resolve(NOT_FOUND)).then(
      (found) => send(response, found),
      () => send(response, FAILED),
    );
  });
  server.listen({ host, port });
  await once(server, 'listening');
  return {
    address: { host, port: (server.address() as AddressInfo).port },
    ending() {
      isEnding = true;
    },
    async stop() {
      endProcessMetrics();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const NOT_FOUND = problem(404, 'Not found', 'There is /healthz, /readyz and /metrics, by GET.');
const FAILED = problem(500, 'Internal error', 'The answer could not be made.');

function readiness(check: { name: string; state: 'ok' | 'degraded' | 'failed'; detail: string }): Answer {
  if (check.state !== 'failed') return json(200, { status: 'ready', checks: [check] });
  return problem(503, 'Unavailable', `${check.name} ${check.detail}`);
}

function json(status: number, body: object): Answer {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(body) };
}

function problem(status: number, title: string, detail: string): Answer {
  const body = JSON.stringify({ type: 'about:blank', status, title, detail });
  return { status, type: 'application/problem+json; charset=utf-8', body };
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': length, 'Cache-Control': 'no-store' });
  response.end(body);
}

function cached<T>(make: () => Promise<T>): () => Promise<T> {
  let last: { readonly made: Promise<T>; readonly at: number } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.at >= CACHE_MS) last = { made: make(), at: now };
    return last.made;
  };
}
