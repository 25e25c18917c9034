import { type Database, openForReading } from './database.ts';

/** Triggers that every file has: the log is only appended to. */
const OWN_TRIGGERS: ReadonlyMap<string, string> = new Map(
  [
    ['audit_is_never_changed', 'UPDATE'],
    ['audit_is_never_deleted', 'DELETE'],
  ].map(([name = '', event]) => [
    name,
    `CREATE TRIGGER ${name} BEFORE ${event} ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END`,
  ]),
);

/**
 * Returns the faults in programs that the file itself runs when it is written or read: a trigger undoes what the control plane
 * writes, and a view answers it otherwise than a process that only reads. Also reports Mesh's own triggers that the file lacks.
 *
 * @returns a sentence for each that is not as Mesh made it
 */
export function programFaults(database: Database): string[] {
  const rows = database
    .statement<{ type: string; name: string; sql: string }>(
      "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%' ORDER BY name",
    )
    .all();
  const isOwn = ({ name, sql }: { name: string; sql: string }) =>
    OWN_TRIGGERS.get(name) === sql.replaceAll(/\s+/g, ' ');
  const foreign = rows
    .filter((row) => !isOwn(row))
    .map(
      ({ type, name }) =>
        `The file has the ${type} ${name.slice(0, 80)}, which no version of Mesh makes: what is written to it or read from it may be another.`,
    );
  const there = new Set(rows.map(({ name }) => name));
  const lacking = [...OWN_TRIGGERS.keys()]
    .filter((name) => !there.has(name))
    .map((name) => `The file lacks the trigger ${name}, which keeps the audit log append-only: it was taken out.`);
  return [...foreign, ...lacking];
}

export function programFaultsIn(path: string): string[] {
  const database = openForReading(path);
  try {
    return programFaults(database);
  } finally {
    database.close();
  }
}
