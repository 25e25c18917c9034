import type { Commit } from '../core/base/ports.ts';
import type { Kind } from '../core/base/record.ts';
import type { Scope } from '../core/base/scope.ts';
import { DRIFT_EVENT, driftView } from '../core/compliance/drift.ts';
import { eventText } from './sse.ts';

const DRIFT_SCOPE = 'compliance:assess';
/** The scope that shows changes of a kind; others, which keep no history, are never shown. */
const SCOPE_OF_KIND: Partial<Record<Kind, Scope>> = {
  MeshPeer: 'network:read',
  MeshPolicy: 'network:read',
  MeshNetwork: 'network:read',
  AgentIdentity: 'network:read',
  Presence: 'network:read',
  Workflow: 'network:read',
  PolicyAssertion: 'network:read',
  ComplianceDrift: DRIFT_SCOPE,
  ReviewDue: 'compliance:assess',
};
const ACTOR_SCOPE = 'audit:read';
/** All that make a difference to what is told. */
const TELLING: readonly Scope[] = [...new Set([...Object.values(SCOPE_OF_KIND), DRIFT_SCOPE, ACTOR_SCOPE] as const)];

const texts = new WeakMap<Commit, Map<string, string | undefined>>();

/**
 * Returns the event for a commit that readers with these scopes receive, written once for all of them; undefined if they may
 * see none of the changes. Only auditors see the actor.
 */
export function eventTextOf(commit: Commit, scopes: ReadonlySet<Scope>): string | undefined {
  const key = TELLING.filter((scope) => scopes.has(scope)).join(' ');
  const known = texts.get(commit) ?? new Map<string, string | undefined>();
  texts.set(commit, known);
  if (!known.has(key)) known.set(key, textOf(commit, scopes));
  return known.get(key);
}

function textOf({ revision, at, actor, changes }: Commit, scopes: ReadonlySet<Scope>): string | undefined {
  const shown = changes.flatMap(({ type, record: { kind, name, uid } }) => {
    const scope = SCOPE_OF_KIND[kind];
    return scope && scopes.has(scope) ? [{ type, kind, name, id: uid }] : [];
  });
  if (shown.length === 0) return undefined;
  const data = {
    revision,
    at: new Date(at).toISOString(),
    ...(scopes.has(ACTOR_SCOPE) && { actor }),
    changes: shown,
  };
  const id = String(revision);
  return eventText({ id, event: 'change', data }) + driftText(id, changes, scopes);
}

/**
 * Returns the event for the differences that an assessment found from the one before it, under the id of the revision that
 * stores it.
 */
function driftText(id: string, changes: Commit['changes'], scopes: ReadonlySet<Scope>): string {
  if (!scopes.has(DRIFT_SCOPE)) return '';
  return changes
    .flatMap((change) => {
      if (change.type !== 'created' || change.record.kind !== 'ComplianceDrift') return [];
      return eventText({ id, event: DRIFT_EVENT, data: driftView(change.record) });
    })
    .join('');
}
