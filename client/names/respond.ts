import { readQuery, writeRejection, writeReply } from './message.ts';
import type { Zone } from './zone.ts';

/** Answers a message, which may be anything; undefined for no answer at all. Never throws. */
export function respond(zone: Zone, bytes: Uint8Array): Uint8Array | undefined {
  const query = readQuery(bytes);
  if (!('reject' in query)) return writeReply(query, zone.answer(query));
  return query.reject === 'silently' ? undefined : writeRejection(query);
}
