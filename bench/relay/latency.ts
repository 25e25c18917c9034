import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Dialect } from './channels.ts';
import type { Answers, Order } from './pace.ts';

/** One round of evenly sent packets, in milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p99: number;
  /** How late the sender was, and how late the loop that took the times; 99th percentiles. */
  readonly senderMs: number;
  readonly receiversMs: number;
  readonly lost: number;
}

/** A sender and its receivers, each side a process of its own. */
export async function openPaced(as: Dialect['name'], port: number, count: number) {
  const sender = startEnd();
  const receivers = startEnd();
  const [from] = await tell(sender, { do: 'join', as, port, count: 1 });
  if (from === undefined) throw new Error('The sender has no address.');
  const to = await tell(receivers, { do: 'join', as, port, count });
  await tell(sender, { do: 'aim', receivers: to });
  await tell(receivers, { do: 'admit', sender: from });
  return {
    async run(perSecond: number, seconds: number): Promise<Latency> {
      const sent = await tell(sender, { do: 'send', perSecond, seconds });
      await new Promise((resolve) => setTimeout(resolve, 100));
      const { p50, p99, loopMs, packets } = await tell(receivers, { do: 'collect' });
      return { p50, p99, senderMs: sent.lateMs, receiversMs: loopMs, lost: sent.packets - packets };
    },
    close() {
      sender.disconnect();
      receivers.disconnect();
    },
  };
}

function startEnd(): ChildProcess {
  return fork(new URL('./pace.ts', import.meta.url), { serialization: 'advanced' });
}

async function tell<T extends Order>(end: ChildProcess, order: T): Promise<Answers[T['do']]> {
  const answered = once(end, 'message');
  end.send(order);
  const [answer] = await answered;
  return answer as Answers[T['do']];
}
