import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { LabMethods } from './lab-worker.ts';
import type { LabHost } from './natlab.ts';

type Remote = {
  [M in keyof LabMethods]: (...args: Parameters<LabMethods[M]>) => Promise<Awaited<ReturnType<LabMethods[M]>>>;
};

/** Tunnel and firewall of one interface on a host of a lab. */
export type LabNode = Remote & {
  /** As a crash: nothing is taken away. */
  kill(): Promise<void>;
};

const WORKER = path.join(import.meta.dirname, 'lab-worker.ts');
let names = 0;

/** A name that no other test of this machine uses: sockets of wireguard-go are in one directory for all namespaces. */
export function freshInterface(): string {
  names += 1;
  return `mt${process.pid}x${names}`;
}

export function labNode(host: LabHost, interfaceName = freshInterface()): LabNode {
  const child = host.spawn(process.execPath, [WORKER, interfaceName]);
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let calls = 0;
  let errors = '';
  child.stderr?.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error(`The worker of ${host.name} has ended: ${errors}`));
  });
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, answer, error } = JSON.parse(line) as { id: number; answer?: unknown; error?: string };
      const call = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) call?.resolve(answer);
      else call?.reject(new Error(error));
    });
  }
  const call = (method: string, args: readonly unknown[]) => {
    const id = calls++;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(id, answer);
    child.stdin?.write(`${JSON.stringify({ id, method, args })}\n`);
    return answer.promise;
  };
  const kill = async () => {
    for (const answer of waiting.values()) answer.promise.catch(() => {});
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  return new Proxy({} as LabNode, {
    get: (_, method: string) => {
      if (method === 'then') return undefined;
      return method === 'kill' ? kill : (...args: unknown[]) => call(method, args);
    },
  });
}
