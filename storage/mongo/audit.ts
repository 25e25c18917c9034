import type { ClientSession, Filter } from 'mongodb';
import type { AuditEntry, AuditQuery } from '../../core/base/ports.ts';
import type { Entry } from '../apply-batch.ts';
import { HOST_OPERATOR, matchesQuery, SYSTEM } from '../audit-filter.ts';
import { parseStored } from '../body.ts';
import type { Collections, Connection } from './connect.ts';
import { type EntryDoc, entryId } from './documents.ts';

/** Ends the range of names with the prefix: `;` follows `:`. */
const AFTER_SYSTEM = `${SYSTEM.slice(0, -1)};`;
const AUTHORS: Readonly<Record<NonNullable<AuditQuery['author']>, Filter<EntryDoc>>> = {
  system: { actor: { $gte: SYSTEM, $lt: AFTER_SYSTEM, $ne: HOST_OPERATOR } },
  caller: { $or: [{ actor: { $lt: SYSTEM } }, { actor: { $gte: AFTER_SYSTEM } }, { actor: HOST_OPERATOR }] },
};

/** Newest first. The server leaves out what it can tell by the fields of an entry. */
export function queryAudit(connection: Connection, ws: string, query: AuditQuery): Promise<AuditEntry[]> {
  return connection.snapshot(async (session, collections) => {
    const { actors, author, kind, type, from, to, before = Number.POSITIVE_INFINITY, limit } = query;
    const first = from === undefined ? 0 : await entriesBefore(collections, ws, from, session);
    const end = to === undefined ? before : Math.min(before, await entriesBefore(collections, ws, to + 1, session));
    const filter: Filter<EntryDoc> = {
      _id: { $gte: entryId(ws, first), $lt: entryId(ws, end) },
      ...(actors && { actor: { $in: [...actors] } }),
      ...(author !== undefined && { $and: [AUTHORS[author]] }),
      // Kinds are kept of commits alone: events are told apart by what they say.
      ...(kind !== undefined && { $or: [{ kinds: kind }, { commit: { $exists: false } }] }),
      ...(type !== undefined && { commit: { $exists: type === 'commit' } }),
    };
    const found: AuditEntry[] = [];
    const entries = collections.log.find(filter, { session, sort: { _id: -1 }, projection: { entry: 1 } });
    for await (const { _id, entry: text } of entries) {
      if (found.length >= limit) break;
      const entry: AuditEntry = { seq: _id.seq, ...parseStored<Entry>(text) };
      if (matchesQuery(entry, query)) found.push(entry);
    }
    return found;
  });
}

/** How many entries are older than an instant: instants never fall from one to the next. */
async function entriesBefore(
  { log }: Collections,
  ws: string,
  instant: number,
  session: ClientSession,
): Promise<number> {
  const entry = await log.findOne(
    { '_id.ws': ws, at: { $gte: instant } },
    { session, sort: { at: 1, '_id.seq': 1 }, projection: { _id: 1 } },
  );
  return entry?._id.seq ?? Number.POSITIVE_INFINITY;
}
