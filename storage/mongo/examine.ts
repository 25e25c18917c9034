import type { Examination, PlanesReader } from '../engine.ts';
import { cellsIn } from './cells.ts';
import { connect } from './connect.ts';
import { installationIn } from './installation.ts';
import { leaseStates } from './lease.ts';
import { requireInUse } from './move-note.ts';
import { requireIndexes, schemaOf } from './schema.ts';

/** Looks at a database, which control planes may use. Nothing is written. @throws StoreError that says what is wrong */
export async function examineMongo(url: string): Promise<Examination> {
  const connection = await connect(url);
  try {
    const admin = connection.client.db('admin');
    const { setName, hosts } = await admin.command({ hello: 1 });
    const { version } = await admin.command({ buildInfo: 1 });
    await requireInUse(connection);
    const schema = await schemaOf(connection);
    if (schema > 0) await requireIndexes(connection);
    return {
      servers: `MongoDB ${version} answers, a replica set ${setName} of ${(hosts as string[]).length}`,
      isUsed: schema > 0,
      backup: 'with mongodump --oplog, or by snapshots of its disks',
    };
  } finally {
    await connection.close();
  }
}

/** Nothing is written. @throws StoreError */
export async function openPlanesReader(url: string): Promise<PlanesReader> {
  const connection = await connect(url);
  // Expiry is judged by the clock of the database, which control planes go by.
  const now = await installationIn(connection).now();
  return {
    cells: (space, parse) => cellsIn(connection, { now: () => now }, space, parse),
    leases: (prefix) => leaseStates(connection, prefix, 'server'),
    close: connection.close,
  };
}
