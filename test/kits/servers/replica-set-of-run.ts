import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import type { ReplicaSet } from './replica-set.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a file asks for its part of the replica set of the run. */
    readonly replicaSet: string;
  }
}

/** What one file has of it. */
export interface Part {
  readonly hosts: string;
  /** How the names of its databases begin. */
  readonly prefix: string;
}

/** Nobody ends a member of it: one that is only slow, on a machine that is busy, stays what it is. */
const NEVER_REPLACED_MS = 60_000;

/** Once for a run: a replica set that starts when the first file asks for it, and ends after the last one. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let started: Promise<ReplicaSet> | undefined;
  let parts = 0;
  const start = async () => (await import('./replica-set.ts')).startReplicaSet({ electionMs: NEVER_REPLACED_MS });
  const server = createServer(async (_, answer) => {
    parts += 1;
    const prefix = `part_${parts}_`;
    try {
      started ??= start();
      const { hosts } = await started;
      answer.end(JSON.stringify({ hosts, prefix } satisfies Part));
    } catch (error) {
      answer.writeHead(500).end(String(error));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  provide('replicaSet', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    const servers = await started?.catch(() => undefined);
    await servers?.stop();
  };
}
