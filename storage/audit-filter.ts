import type { AuditEntry, AuditQuery } from '../core/base/ports.ts';
import { foldName } from '../core/base/record.ts';

/** True if an entry matches an audit log query; time and number are not compared. */
export function matchesQuery(entry: AuditEntry, { type, actors, author, kind, name }: AuditQuery): boolean {
  if (type !== undefined && entry.type !== type) return false;
  if (actors && !actors.includes(entry.actor)) return false;
  if (author !== undefined && (author === 'system') !== isOfSystem(entry.actor)) return false;
  if (kind === undefined && name === undefined) return true;
  const wanted = name === undefined ? undefined : foldName(name);
  return changesIn(entry).some(
    (change) =>
      (kind === undefined || change.kind === kind) &&
      (wanted === undefined || (typeof change.name === 'string' && foldName(change.name) === wanted)),
  );
}

/** Prefix of the actors of jobs. */
export const SYSTEM = 'system:';
/** A person at the host, who acts by a command of `meshd`. */
export const HOST_OPERATOR = 'system:operator';

function isOfSystem(actor: string): boolean {
  return actor.startsWith(SYSTEM) && actor !== HOST_OPERATOR;
}

/** Returns the changes that an entry tells: those of a commit, and those of an event, such as of settings or members. */
function changesIn({ commit, event }: AuditEntry): readonly { readonly kind?: unknown; readonly name?: unknown }[] {
  if (commit) return commit.changes;
  const told = event?.detail?.['changes'];
  return Array.isArray(told) ? told.filter((change) => typeof change === 'object' && change !== null) : [];
}
