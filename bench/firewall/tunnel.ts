import { readFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import type { LabHost } from '../../test/kits/lab/natlab.ts';
import { type LabParts, tunnelPair } from '../../test/kits/lab/natlab-parts.ts';
import { iperfServer } from '../node/throughput.ts';

/** TCP takes so long until it sends as fast as before it paused, and until what is under way has arrived. */
const SETTLING_MS = 15;
const DRAINING_MS = 10;
/** Until the stream has found its rate: the first time it sends. */
const FIRST_MS = 800;

export interface BurstTunnel {
  /** Where the stream arrives. */
  readonly host: LabHost;
  readonly parts: LabParts;
  /** @returns Mbit/s that arrived in the tunnel in so many milliseconds */
  burst(milliseconds: number): Promise<number>;
  close(): Promise<void>;
}

/**
 * A tunnel from one host to another, each on a core of its own as two machines are, with a TCP stream through it that
 * stands still but for its bursts: so several tunnels can take turns many times a second. Addresses 10.96.0.1 and .2.
 */
export async function tunnelWithBursts(from: LabHost, to: LabHost): Promise<BurstTunnel> {
  const ends = await tunnelPair({ from, to }, '10.96.0.0/16');
  for (const host of [from, to]) await host.must('sysctl', ['-qw', 'net.ipv4.tcp_slow_start_after_idle=0']);
  const server = await iperfServer(to, '10.96.0.2');
  // Longer than any bench; the lab ends it.
  const client = from.spawn('iperf3', ['-c', '10.96.0.2', '-t', '36000', '-i', '0']);
  client.stdout?.resume();
  await pin(from, 0);
  await pin(to, 1);
  await after(FIRST_MS);
  client.kill('SIGSTOP');

  /** As the namespace of the process sees its interface. */
  const received = () => {
    const counters = readFileSync(`/proc/${server.pid}/net/dev`, 'utf8');
    const bytes = new RegExp(`^ *${ends.to.interfaceName}: *(\\d+)`, 'm').exec(counters)?.[1];
    if (bytes === undefined) throw new Error(`${ends.to.interfaceName} has gone.`);
    return { at: performance.now(), bytes: Number(bytes) };
  };

  return {
    host: to,
    parts: ends.to.parts,
    async burst(milliseconds) {
      client.kill('SIGCONT');
      await after(SETTLING_MS);
      const began = received();
      await after(milliseconds);
      const ended = received();
      client.kill('SIGSTOP');
      await after(DRAINING_MS);
      return ((ended.bytes - began.bytes) * 8) / (ended.at - began.at) / 1_000;
    },
    async close() {
      client.kill('SIGKILL');
      await Promise.all([ends.from.parts.close(), ends.to.parts.close()]);
    },
  };
}

async function pin(host: LabHost, core: number): Promise<void> {
  const processes = (await host.must('ip', ['netns', 'pids', host.namespace])).trim().split(/\s+/);
  for (const pid of processes) await host.must('taskset', ['-a', '-c', '-p', `${core}`, pid]);
}
