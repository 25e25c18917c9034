import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { LabHost } from '../../test/kits/lab/natlab.ts';

interface IperfReport {
  readonly end: { readonly sum_received: { readonly bits_per_second: number } };
}

/** One TCP stream by iperf3 from one host to an address of another. @returns Mbit/s that arrived */
export async function tcpThroughput(from: LabHost, to: LabHost, address: string, seconds: number): Promise<number> {
  const server = await iperfServer(to, address);
  const ended = once(server, 'exit');
  const report = await from.must('iperf3', ['-c', address, '-t', `${seconds}`, '-O', '0.3', '-J'], {
    timeoutMs: 30_000,
  });
  await ended;
  return (JSON.parse(report) as IperfReport).end.sum_received.bits_per_second / 1e6;
}

/** An iperf3 that listens, for one stream. */
export async function iperfServer(host: LabHost, address: string): Promise<ChildProcess> {
  const server = host.spawn('iperf3', ['-s', '-1', '-B', address, '--forceflush']);
  if (server.stdout) await once(server.stdout, 'data');
  server.stdout?.resume();
  return server;
}
