import { once } from 'node:events';
import type { LabNode } from '../kits/lab/natlab-node.ts';
import { otherOf } from './pair.ts';

const PROBE_MS = 20;
const PATIENCE_MS = 60_000;

/** Echoes from a node to the other, and when each was answered. */
export function startProbe(node: LabNode, bytes = 56) {
  const args = ['-n', '-s', `${bytes}`, '-i', `${PROBE_MS / 1_000}`, otherOf(node)];
  const child = node.host.spawn('ping', args);
  const answers: number[] = [];
  const numbers = new Set<number>();
  let wake = () => {};
  child.stdout?.on('data', (data: Buffer) => {
    const at = performance.now();
    for (const [, number] of data.toString().matchAll(/bytes from .* icmp_seq=(\d+) /g)) {
      answers.push(at);
      numbers.add(Number(number));
    }
    wake();
  });
  return {
    /** When the next answer comes. */
    async next(): Promise<number> {
      const known = answers.length;
      const until = performance.now() + PATIENCE_MS;
      const late = setTimeout(() => wake(), PATIENCE_MS);
      while (answers.length === known) {
        if (performance.now() >= until) throw new Error(`${node.host.name} got no answer for a minute.`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      clearTimeout(late);
      return answers[known] ?? until;
    },
    /** Resolves after so many answers. */
    async answered(count: number): Promise<void> {
      for (let answer = 0; answer < count; answer += 1) await this.next();
    },
    /** The longest time without an answer since a moment. */
    longestSince(start: number): number {
      let [longest, last] = [0, start];
      for (const at of answers) {
        if (at <= start) continue;
        longest = Math.max(longest, at - last);
        last = at;
      }
      return longest;
    },
    /** Of a moment: the last answer before it. */
    lastBefore(moment: number): number {
      return answers.findLast((at) => at <= moment) ?? moment;
    },
    /** @returns the numbers of the echoes that got no answer, before the last that got one: what comes after that is under way */
    async stop(): Promise<number[]> {
      const ended = once(child, 'close');
      child.kill('SIGINT');
      await ended;
      return Array.from({ length: Math.max(0, ...numbers) }, (_, n) => n + 1).filter((number) => !numbers.has(number));
    },
  };
}
