import { type Clock, type Commit, type Log, StoreError } from '../../core/base/ports.ts';
import { unavailable } from '../unavailable.ts';
import type { Connection } from './connect.ts';
import { type Outcome, type WriteJob, writeGroup } from './group.ts';
import type { MongoWriteQueue } from './write-queue.ts';

/** Makes writes one group after the other; what arrives while one is written shares the next transaction. */
export interface GroupCommit {
  enqueue(job: WriteJob): Promise<Commit | undefined>;
  /** Resolves once the group that is written now has been told, however many wait behind it. */
  settled(): Promise<void>;
  /** Takes no more, and resolves once all that was queued is written. */
  close(): Promise<void>;
}

interface QueuedJob {
  readonly job: WriteJob;
  readonly writes: number;
  /** As text, which is how records are written. */
  readonly characters: number;
  resolve(commit: Commit | undefined): void;
  reject(error: unknown): void;
}

/** So that one group is written in some tens of milliseconds. */
const MAX_GROUP = 256;
const MAX_OPS = 2_000;
/** A transaction's writes stay in the server's cache until it ends; one of 256 MB has no room for 60 of the largest records. */
const MAX_CHARACTERS = 4_000_000;

/** @param tell of each commit that changed something, in order, once it is held by a majority and before its caller hears */
export function buildGroupCommit(
  connection: Connection,
  clock: Clock,
  log: Log,
  turns: Pick<MongoWriteQueue, 'met'>,
  tell: (commit: Commit) => Promise<void>,
): GroupCommit {
  const queue: QueuedJob[] = [];
  let writing: Promise<void> | undefined;
  let group: Promise<void> = Promise.resolve();
  let closed = false;

  async function writeAll(): Promise<void> {
    // Commits that are requested in the same tick join the group.
    await new Promise((resolve) => setImmediate(resolve));
    while (queue.length > 0) {
      group = write(queue.splice(0, sizeOfGroup(queue)));
      await group;
    }
    // In the same step as the look at the queue: who comes next begins anew.
    writing = undefined;
  }

  async function write(group: readonly QueuedJob[]): Promise<void> {
    let outcomes: readonly Outcome[];
    try {
      const jobs = group.map(({ job }) => job);
      outcomes = await connection.transaction((session) => writeGroup(connection, session, jobs, clock.now()));
    } catch (error) {
      log.error({ error, writes: group.length }, 'the store could not write');
      for (const { reject } of group) reject(error);
      return;
    }
    for (const [index, { job, resolve, reject }] of group.entries()) {
      const outcome = outcomes[index] ?? {};
      if ('error' in outcome) {
        if (isChanged(outcome.error)) turns.met(job.workspace);
        reject(outcome.error);
        continue;
      }
      const { commit } = outcome;
      if (commit && commit.changes.length > 0) await toldOf(commit);
      resolve(commit);
    }
  }

  /** It stands, whatever becomes of telling of it: whoever asks next waits until it is told. */
  async function toldOf(commit: Commit): Promise<void> {
    try {
      await tell(commit);
    } catch (error) {
      log.warn({ error, workspace: commit.workspace }, 'a commit could not be told of yet');
    }
  }

  return {
    enqueue: (job) =>
      new Promise((resolve, reject) => {
        if (closed) {
          reject(unavailable('the store is closed'));
          return;
        }
        queue.push({ job, ...sizeOf(job), resolve, reject });
        writing ??= writeAll();
      }),
    settled: () => group,
    async close() {
      closed = true;
      await writing;
    },
  };
}

function isChanged(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'changed';
}

function sizeOf(job: WriteJob): Pick<QueuedJob, 'writes' | 'characters'> {
  const written = 'ops' in job ? job.ops : job.events;
  return { writes: written.length, characters: JSON.stringify(written).length };
}

function sizeOfGroup(queue: readonly QueuedJob[]): number {
  let [sum, text] = [0, 0];
  const end = queue.findIndex(({ writes, characters }, index) => {
    sum += writes;
    text += characters;
    return index > 0 && (index >= MAX_GROUP || sum > MAX_OPS || text > MAX_CHARACTERS);
  });
  return end === -1 ? queue.length : end;
}
