import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { generateKeyPair } from '../../../net/seal/x25519.ts';
import { freshInterface, type LabHost } from './natlab.ts';
import type { PartsEvent, PartsMethods } from './natlab-parts-worker.ts';

type Remote = {
  [M in keyof PartsMethods]: (...args: Parameters<PartsMethods[M]>) => Promise<Awaited<ReturnType<PartsMethods[M]>>>;
};

/** Tunnel, firewall and paths of one interface on a host of a lab, without an agent around them. */
export type LabParts = Remote & {
  /** As a crash: nothing is taken away. */
  kill(): Promise<void>;
  /** Stops it for a while, say. */
  signal(name: NodeJS.Signals): void;
};

const WORKER = path.join(import.meta.dirname, 'natlab-parts-worker.ts');
/** The contract's WireGuard port. */
export const WIREGUARD_PORT = 51_820;

export function labParts(
  host: LabHost,
  interfaceName = freshInterface(),
  onEvent: (event: PartsEvent) => void = () => {},
): LabParts {
  const child = host.spawn(process.execPath, [WORKER, interfaceName]);
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let calls = 0;
  let errors = '';
  child.stderr?.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const ended = () => new Error(`The worker of ${host.name} has ended: ${errors}`);
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(ended());
  });
  // A worker that has ended reads nothing any more.
  child.stdin?.on('error', () => {});
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, answer, error, event } = JSON.parse(line);
      if (event !== undefined) return onEvent(event);
      const call = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) call?.resolve(answer);
      else call?.reject(new Error(error));
    });
  }
  const call = (method: string, args: readonly unknown[]) => {
    if (hasEnded()) return Promise.reject(ended());
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
  return new Proxy({} as LabParts, {
    get: (_, method: string) => {
      if (method === 'then') return undefined;
      if (method === 'signal') return (name: NodeJS.Signals) => child.kill(name);
      return method === 'kill' ? kill : (...args: unknown[]) => call(method, args);
    },
  });
}

export const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

/** A tunnel between two hosts on one link, 10.96.0.1 and 10.96.0.2 in `cidr`. */
export async function tunnelPair<Name extends string>(hosts: Readonly<Record<Name, LabHost>>, cidr: string) {
  const opening = Object.entries<LabHost>(hosts).map(async ([name, host], index) => {
    const [interfaceName, keys, address] = [freshInterface(), generateKeyPair(), `10.96.0.${index + 1}`];
    const parts = labParts(host, interfaceName);
    const settings = { privateKey: base64(keys.privateKey), address, cidr };
    const endpoint = { address: host.address ?? '', port: WIREGUARD_PORT };
    /** As the other end knows it. */
    const peer = { publicKey: base64(keys.publicKey), allowedIps: [`${address}/32`], endpoint, keepalive: 0 };
    return { name, host, interfaceName, parts, settings, peer, opened: await parts.open(settings) };
  });
  const ends = await Promise.all(opening);
  for (const [index, { parts }] of ends.entries()) {
    const other = ends[1 - index];
    if (other) await parts.change([other.peer], []);
  }
  return Object.fromEntries(ends.map((end) => [end.name, end])) as Record<Name, (typeof ends)[number]>;
}
