import type { AuditEntry } from '../base/ports.ts';
import type { Kind } from '../base/record.ts';
import type { NetworkServices } from '../state/services.ts';

const PAGE = 1_000;
/** Entries of the audit log that one count reads. */
const MAX_READ = 20_000;

/** Kinds that people and agents change, without records of events such as presence, snapshots and reviews. */
const CHANGE_KINDS = [
  'MeshPeer',
  'MeshPolicy',
  'MeshNetwork',
  'AgentIdentity',
  'PolicyAssertion',
  'Token',
  'Member',
  'Workspace',
  'Webhook',
] as const satisfies readonly Kind[];
export type ChangeKind = (typeof CHANGE_KINDS)[number];

const IS_COUNTED: ReadonlySet<string> = new Set(CHANGE_KINDS);

/** How many revisions changed something in a range, and how many records of each kind. */
export interface ChangeCount {
  readonly count: number;
  /** Only kinds that changed. */
  readonly kinds: Readonly<Partial<Record<ChangeKind, number>>>;
  /** False where there are more than were read: `count` is at least that. */
  readonly isComplete: boolean;
}

/**
 * Counts every change of a range, whoever made it and whether or not a workflow did.
 *
 * @param range ms, both ends included
 */
export async function countChanges(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ChangeCount> {
  const kinds: Partial<Record<ChangeKind, number>> = {};
  let count = 0;
  let before: number | undefined;
  for (let read = 0; read < MAX_READ; read += PAGE) {
    const page = await store.audit(workspace, {
      ...{ type: 'commit' as const, from, to, limit: PAGE },
      ...(before !== undefined && { before }),
    });
    for (const entry of page) {
      const changed = changedIn(entry);
      if (changed.length > 0) count += 1;
      for (const kind of changed) kinds[kind] = (kinds[kind] ?? 0) + 1;
    }
    if (page.length < PAGE) return { count, kinds, isComplete: true };
    before = page.at(-1)?.seq;
  }
  return { count, kinds, isComplete: false };
}

function changedIn({ actor, commit }: AuditEntry): ChangeKind[] {
  const changed = (commit?.changes ?? []).flatMap(({ kind, type }) => {
    // Tokens note that they were used, and housekeeping removes them and moves what retention keeps.
    const isUpkeep =
      (kind === 'Token' && type === 'updated') ||
      ((kind === 'Token' || kind === 'Workspace') && actor.startsWith('system:'));
    return IS_COUNTED.has(kind) && !isUpkeep ? [kind as ChangeKind] : [];
  });
  // Joining and delegation create a token too; it is not counted by itself.
  const others = changed.filter((kind) => kind !== 'Token');
  return others.length > 0 ? others : changed;
}
