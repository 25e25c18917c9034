import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ServerNotifier } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { startTestMcp } from '../../mcp/plane.testkit.ts';
import { conformanceFixtures } from '../conformance-fixtures.ts';
import { npmJudge } from '../kits/process/npm-judges.ts';

const SUITE = npmJudge('@modelcontextprotocol/conformance/dist/index.js') ?? '';

/** The suite sends no token: this adds one to each request on its way, and changes nothing else. */
async function startTokenProxy(target: URL, token: string): Promise<Server> {
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    const { method, url: path } = incoming;
    const onward = forward({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}

test.skipIf(SUITE === '').each(['2025-11-25', '2026-07-28'])(
  'the official conformance suite finds every requirement of revision %s met',
  async (revision) => {
    let notifier: ServerNotifier | undefined;
    const extension = conformanceFixtures(() => {
      if (!notifier) throw new Error('The endpoint is not up yet.');
      return notifier;
    });
    await using plane = await startTestMcp({ extension });
    notifier = plane.endpoint.notify;
    const proxy = await startTokenProxy(plane.url, 'reader');
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
    const suite = spawn(process.execPath, [SUITE, 'server', '--url', url, '--requirements', revision], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, complaints, [exit]] = await Promise.all([
      text(suite.stdout),
      text(suite.stderr),
      once(suite, 'exit') as Promise<[number | null]>,
    ]);
    proxy.closeAllConnections();
    proxy.close();
    expect(exit, `${output.slice(-6_000)}\n${complaints.slice(-2_000)}`).toBe(0);
  },
  120_000,
);
