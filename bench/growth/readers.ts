import { fork } from 'node:child_process';
import { once } from 'node:events';
import { buildApp } from '../../rest/app.ts';
import { listen } from '../../rest/listen.ts';
import { createMetrics } from '../../rest/metrics.ts';
import { buildKit, person } from '../../test/kits/plane/kit.ts';
import { operations } from '../../tools/index.ts';

export interface Readers {
  readonly readers: number;
  /** Of the control plane's main thread for a commit, round by round. */
  readonly cpuMs: readonly number[];
}

const ROUNDS = 7;
const COMMITS = 20;
/** One principal may have an eighth of them. */
const MAX_STREAMS = 10_000;
const silent = { error: console.error, warn() {}, info() {}, debug() {} };

/** What a commit costs with so many readers of events, who are a process of their own. */
export async function measureReaders(counts: readonly number[]): Promise<Readers[]> {
  await using kit = await buildKit({ now: Date.now() });
  const workspace = await kit.workspace('bench');
  const as = { as: person('admin', workspace), workspace };
  const { token } = await kit.call('create_agent', { name: 'bench' }, as);
  const app = buildApp({
    operations,
    gate: kit.gate,
    log: silent,
    metrics: createMetrics(),
    ready: async () => [],
    limits: { rate: 'off', events: { maxStreams: MAX_STREAMS } },
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  let named = 0;
  const found: Readers[] = [];
  for (const readers of counts) {
    const reading = fork(new URL('./reading.ts', import.meta.url), [server.url, token, workspace, String(readers)]);
    await once(reading, 'message');
    const cpuMs: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const heard = once(reading, 'message');
      reading.send(COMMITS);
      const before = process.threadCpuUsage();
      for (let count = 0; count < COMMITS; count += 1) {
        const spec = { action: 'ALLOW', peerSelector: {}, ingress: [] };
        await kit.call('create_policy', { name: `policy-${named++}`, spec }, as);
      }
      await heard;
      const { user, system } = process.threadCpuUsage(before);
      cpuMs.push((user + system) / 1_000 / COMMITS);
    }
    reading.disconnect();
    await once(reading, 'exit');
    found.push({ readers, cpuMs });
  }
  await server.stop();
  return found;
}
