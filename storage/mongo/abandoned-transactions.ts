import type { MongoClient } from 'mongodb';

/** A transaction takes some tens of milliseconds: one open for so long with nothing asked of it has no process that runs. */
const ABANDONED_MS = 1_500;
const PAUSE_MS = 500;

/**
 * Ends the transactions of processes that were killed or stopped within one. The server itself does so after a minute, and
 * until then nobody else writes to what they wrote. One that goes on after all is told, and begins again.
 *
 * @returns what whoever is held up calls; those who wait together share one look
 */
export function buildEndAbandoned(client: MongoClient, appName: string): () => Promise<void> {
  let looking: Promise<void> | undefined;
  let nextAt = 0;

  async function look(): Promise<void> {
    const admin = client.db('admin');
    // Every user may see and end the operations that it runs itself.
    const stages = [
      { $currentOp: { allUsers: false, idleSessions: true } },
      {
        $match: {
          type: 'idleSession',
          appName,
          'transaction.timeInactiveMicros': { $gte: ABANDONED_MS * 1_000 },
        },
      },
      { $project: { id: '$lsid.id' } },
    ];
    // As a buffer an id would lose that it is a UUID.
    const options = { readConcern: { level: 'local' }, promoteBuffers: false } as const;
    const abandoned = await admin.aggregate<{ id: unknown }>(stages, options).toArray();
    if (abandoned.length > 0) await admin.command({ killSessions: abandoned.map(({ id }) => ({ id })) });
  }

  return async () => {
    if (looking === undefined && performance.now() < nextAt) return;
    looking ??= look()
      // Without it the server ends them, only later.
      .catch(() => undefined)
      .finally(() => {
        looking = undefined;
        nextAt = performance.now() + PAUSE_MS;
      });
    await looking;
  };
}
