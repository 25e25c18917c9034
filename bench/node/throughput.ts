import { once } from 'node:events';
import type { LabHost } from '../../test/natlab.ts';

interface IperfReport {
  readonly end: { readonly sum_received: { readonly bits_per_second: number } };
}

/** One TCP stream by iperf3 from one host to an address of another. @returns Mbit/s that arrived */
export async function tcpThroughput(from: LabHost, to: LabHost, address: string, seconds: number): Promise<number> {
  const server = await listening(to, address);
  const report = await from.must('iperf3', ['-c', address, '-t', `${seconds}`, '-O', '0.3', '-J'], {
    timeoutMs: 30_000,
  });
  await server.ended;
  return (JSON.parse(report) as IperfReport).end.sum_received.bits_per_second / 1e6;
}

/** One TCP stream, as above. @returns Mbit/s that arrived in each fifth of a second after the first half second */
export async function tcpFifths(from: LabHost, to: LabHost, address: string, seconds: number): Promise<number[]> {
  const server = await listening(to, address, ['-i', '0.2', '-f', 'm']);
  await from.must('iperf3', ['-c', address, '-t', `${seconds}`], { timeoutMs: 30_000 });
  const lines = (await server.ended).matchAll(/([\d.]+)-([\d.]+) +sec .* ([\d.]+) Mbits\/sec/g);
  return [...lines]
    .map(([, start, end, megabits]) => ({ start: Number(start), end: Number(end), megabits: Number(megabits) }))
    .filter(({ start, end }) => start >= 0.5 && end - start > 0.15 && end - start < 0.25)
    .map(({ megabits }) => megabits);
}

/** An iperf3 that serves one stream. `ended`: all that it printed. */
async function listening(host: LabHost, address: string, options: readonly string[] = []) {
  const { stdout } = host.spawn('iperf3', ['-s', '-1', '-B', address, '--forceflush', ...options]);
  if (!stdout) throw new Error('An iperf3 without stdout cannot say that it listens.');
  const chunks: string[] = [];
  stdout.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  const ended = once(stdout, 'close').then(() => chunks.join(''));
  await once(stdout, 'data');
  return { ended };
}
