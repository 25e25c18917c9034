import { endProcess } from '../../core/base/end-process.ts';
import type { Clock, Commit, Log, StoreError } from '../../core/base/ports.ts';
import { WriteQueue } from '../../core/base/write-queue.ts';
import type { OpenStore, StoreUpkeep } from '../engine.ts';
import { buildFeed } from '../feed.ts';
import { compactVersions } from './compact.ts';
import { type Connection, connect } from './connect.ts';
import { follow } from './follow.ts';
import { buildGroupCommit } from './group-commit.ts';
import { installationIn } from './installation.ts';
import { acquireLease, type LeaseClock, leaseStates, releaseLease, renewLeases } from './lease.ts';
import { requireInUse } from './move-note.ts';
import { newestHeads } from './newest-heads.ts';
import { readsOn } from './reader.ts';
import { migrate, requireNotOvertaken } from './schema.ts';
import { sharedState } from './shared.ts';
import { findWorkspace } from './workspaces.ts';
import { buildWriteQueue } from './write-queue.ts';

export interface MongoStoreOptions {
  /** mongodb://<host>:<port>,…/<database>?replicaSet=<name>; the database is called mesh where none is named. */
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly leaseClock?: LeaseClock;
  /** Some of what others wrote can be told no more. Unless set the process ends, so that its supervisor starts it anew. */
  readonly onGap?: (error: StoreError) => void;
}

/** The servers look after their files themselves. */
const noUpkeep: StoreUpkeep = {
  file: undefined,
  problem: () => undefined,
  bytes: () => ({ file: 0, log: 0 }),
  checkpoint() {},
  vacuum: async () => 0,
  rescue: () => Promise.reject(new TypeError('A store without a file has nothing to rescue.')),
};

/** A store on a replica set, which any number of processes can have open for writing. @throws StoreError `unavailable` */
export async function openMongoStore({ url, ...options }: MongoStoreOptions): Promise<OpenStore> {
  const connection = await connect(url);
  try {
    await requireInUse(connection);
    await migrate(connection);
    return await storeOn(connection, options);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function storeOn(
  connection: Connection,
  { clock, log, leaseClock = 'server', onGap = endProcess }: Omit<MongoStoreOptions, 'url'>,
): Promise<OpenStore> {
  const reads = readsOn(connection);
  const feed = buildFeed(log, reads.commits);
  const turns = buildWriteQueue(connection, {
    async hear(workspace) {
      const found = await connection.run((session) => findWorkspace(connection, workspace, session));
      await follower.upTo(workspace, found?.revision ?? 0);
    },
  });
  const groupCommit = buildGroupCommit(connection, clock, log, turns, (commit) => follower.own(commit));
  const follower = await follow(connection, feed, { log, settled: groupCommit.settled, onGap });
  const newest = newestHeads(connection);
  let closing: Promise<void> | undefined;

  return {
    ...reads,
    queue: new WriteQueue(turns),
    upkeep: noUpkeep,
    shared: { ...installationIn(connection), ...sharedState(connection, clock) },
    commit: async (workspace, ops, context) => (await groupCommit.enqueue({ workspace, ops, context })) as Commit,
    record: async (workspace, events) => {
      await groupCommit.enqueue({ workspace, events });
    },
    watch: (workspace, from, signal) => feed.watch(workspace, from, signal),
    onCommit: (listener) => feed.onCommit(listener),
    async caughtUp(workspaces) {
      const heads = await newest(workspaces);
      await Promise.all(workspaces.map((workspace) => follower.upTo(workspace, heads.get(workspace) ?? 0)));
    },
    damaged: follower.damaged,
    compact: (workspace, upTo, keep, fence) => compactVersions(connection, clock, { workspace, upTo, keep, fence }),
    acquire: (name, holder, ttlMs) => acquireLease(connection, { name, holder, ttlMs }, clock, leaseClock),
    renew: (held, holder, ttlMs) => renewLeases(connection, { held, holder, ttlMs }, leaseClock),
    release: (name, holder) => releaseLease(connection, name, holder),
    async leases(prefix) {
      await requireNotOvertaken(connection);
      return leaseStates(connection, prefix, leaseClock);
    },
    close() {
      closing ??= (async () => {
        await groupCommit.close();
        feed.close();
        await follower.close();
      })();
      return closing;
    },
  };
}
