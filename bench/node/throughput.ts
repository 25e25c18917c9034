import { once } from 'node:events';
import type { LabHost } from '../../test/natlab.ts';

interface IperfReport {
  readonly end: { readonly sum_received: { readonly bits_per_second: number } };
}

/** One TCP stream by iperf3 from one host to an address of another. @returns Mbit/s that arrived */
export async function tcpThroughput(from: LabHost, to: LabHost, address: string, seconds: number): Promise<number> {
  const server = to.spawn('iperf3', ['-s', '-1', '-B', address, '--forceflush']);
  const ended = once(server, 'close');
  if (server.stdout) await once(server.stdout, 'data');
  const report = await from.must('iperf3', ['-c', address, '-t', `${seconds}`, '-O', '0.3', '-J'], {
    timeoutMs: 30_000,
  });
  await ended;
  return (JSON.parse(report) as IperfReport).end.sum_received.bits_per_second / 1e6;
}
