import { setTimeout as after } from 'node:timers/promises';
import type { ChangeStream, Timestamp } from 'mongodb';
import { type Commit, type Log, StoreError } from '../../core/base/ports.ts';
import type { Feed } from '../feed.ts';
import { unavailable } from '../unavailable.ts';
import type { Connection } from './connect.ts';
import type { WorkspaceDoc } from './documents.ts';
import { readNews } from './log.ts';

/** Before a change stream that failed is opened again. */
const REOPEN_MS = 1_000;

/**
 * Publishes each commit of each workspace once and in order, whoever made it. A change stream only says that a workspace
 * has moved: what is published is read from the log, from the last revision that was.
 */
export interface Follower {
  /** Publishes a commit of this process: at once, if no commit of another process comes before it. */
  own(commit: Commit): Promise<void>;
  /** All up to a revision. */
  upTo(workspace: string, revision: number): Promise<void>;
  /** Workspaces whose log could not be read on. */
  damaged(): readonly string[];
  /** And the connection. */
  close(): Promise<void>;
}

interface HeadMove {
  readonly ws: string;
  readonly revision: number;
}

export interface FollowOptions {
  readonly log: Log;
  /** Resolves once what this process writes now is published, which need not be read then. */
  readonly settled: () => Promise<void>;
  /** Part of what others wrote can be told no more: what is known here is not to be relied on. */
  readonly onGap: (error: StoreError) => void;
}

export async function follow(
  connection: Connection,
  feed: Feed,
  { log, settled, onGap }: FollowOptions,
): Promise<Follower> {
  /** By workspace, the newest revision that was published, or was there before. */
  const published = new Map<string, number>();
  const reading = new Map<string, Promise<void>>();
  const damaged = new Set<string>();
  let stream: ChangeStream | undefined;
  /** Resolves once the server has begun a stream, or has not: one that is closed before would begin on a new connection. */
  let begun = Promise.withResolvers<void>();
  let closed = false;

  const first = await operationTime(connection);
  for (const { ws, revision } of await headsOf(connection)) published.set(ws, revision);
  const running = run(first);
  await begun.promise;

  async function run(since: Timestamp): Promise<void> {
    let startAtOperationTime = since;
    while (!closed) {
      try {
        stream = watchHeads(connection, startAtOperationTime).once('resumeTokenChanged', () => begun.resolve());
        // After a change of primary the driver goes on by itself.
        for await (const change of stream as AsyncIterable<Change>) {
          await settled();
          const moved = movedBy(change);
          if (moved) await hear(moved);
        }
      } catch (error) {
        begun.resolve();
        if (closed) return;
        log.warn({ error }, 'the store does not tell of what others write: it is asked again');
      }
      begun = Promise.withResolvers<void>();
      startAtOperationTime = await caughtUp();
    }
    begun.resolve();
  }

  /** Publishes what a stream that ended did not tell of. @returns from when on another one has to tell */
  async function caughtUp(): Promise<Timestamp> {
    for (;;) {
      await after(REOPEN_MS);
      if (closed) return first;
      try {
        const since = await operationTime(connection);
        for (const moved of await headsOf(connection)) await hear(moved);
        return since;
      } catch (error) {
        if (closed) return first;
        log.warn({ error }, 'the store does not answer: it is asked again');
      }
    }
  }

  /** A log that is damaged is told of no further, and keeps nobody from hearing of the others. */
  async function hear({ ws, revision }: HeadMove): Promise<void> {
    try {
      await upTo(ws, revision);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }

  async function upTo(workspace: string, revision: number): Promise<void> {
    while (!closed && (published.get(workspace) ?? 0) < revision) {
      const under = reading.get(workspace);
      if (under !== undefined) {
        // Whoever began it is told why it failed.
        await under.catch(() => undefined);
        continue;
      }
      const work = publishNews(workspace).finally(() => reading.delete(workspace));
      reading.set(workspace, work);
      await work;
    }
    damaged.delete(workspace);
  }

  async function publishNews(workspace: string): Promise<void> {
    const before = published.get(workspace) ?? 0;
    try {
      const news = await readNews(connection, workspace, before);
      for (const [n, commit] of news.entries()) {
        if (commit.revision !== before + 1 + n) throw lacking(workspace, before + 1 + n);
        publish(commit);
      }
      if (news.length === 0) throw lacking(workspace, before + 1);
    } catch (error) {
      if (error instanceof StoreError && error.code === 'compacted') throw missed(error);
      if (isDamage(error) && !damaged.has(workspace)) {
        log.error({ error, workspace }, 'a log is damaged: mesh audit verify says more');
        damaged.add(workspace);
      }
      throw error;
    }
  }

  /** Reports the gap. A reader that relied on its last state would take a right that ended meanwhile as valid for good. */
  function missed({ subject }: StoreError): StoreError {
    const gap = unavailable(`this control plane was away for longer than changes are kept for it (${subject})`);
    onGap(gap);
    return gap;
  }

  function publish(commit: Commit): void {
    if (commit.revision <= (published.get(commit.workspace) ?? 0)) return;
    published.set(commit.workspace, commit.revision);
    feed.publish(commit);
  }

  return {
    async own(commit) {
      await upTo(commit.workspace, commit.revision - 1);
      publish(commit);
    },
    upTo,
    damaged: () => [...damaged],
    async close() {
      closed = true;
      await begun.promise;
      // It ends with the connection; to end it in good order takes a second.
      stream?.close().catch(() => undefined);
      await connection.close();
      await running;
    },
  };
}

function isDamage(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'lost';
}

function lacking(workspace: string, revision: number): StoreError {
  return new StoreError('lost', `the log of ${workspace}: revision ${revision} is not in it`);
}

interface Change {
  readonly documentKey: { readonly _id: string };
  readonly fullDocument?: { readonly revision?: number };
  readonly updateDescription?: { readonly updatedFields?: { readonly revision?: number } };
}

function watchHeads({ workspaces }: Connection, startAtOperationTime: Timestamp): ChangeStream {
  const fields = { documentKey: 1, 'fullDocument.revision': 1, 'updateDescription.updatedFields.revision': 1 };
  return workspaces.watch(
    [{ $match: { operationType: { $in: ['insert', 'update', 'replace'] } } }, { $project: fields }],
    { startAtOperationTime },
  );
}

/** Undefined where it was no commit that moved the workspace. */
function movedBy({ documentKey, fullDocument, updateDescription }: Change): HeadMove | undefined {
  const revision = fullDocument?.revision ?? updateDescription?.updatedFields?.revision;
  return revision === undefined ? undefined : { ws: documentKey._id, revision };
}

/** From which on a change stream misses nothing. */
async function operationTime({ client }: Connection): Promise<Timestamp> {
  return (await client.db('admin').command({ ping: 1 }))['operationTime'];
}

function headsOf({ run, workspaces }: Connection): Promise<HeadMove[]> {
  return run(async (session) => {
    const found = await workspaces
      .find<Pick<WorkspaceDoc, '_id' | 'revision'>>({}, { session, projection: { revision: 1 } })
      .toArray();
    return found.map(({ _id: ws, revision }) => ({ ws, revision }));
  });
}
