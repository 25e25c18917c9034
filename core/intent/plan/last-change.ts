import type { AuditEntry, Change, Commit } from '../../base/ports.ts';
import type { Kind } from '../../base/record.ts';
import { withRenames } from '../../base/renames.ts';
import { isOfAgent } from '../../model/presets.ts';
import { DEFAULT_NETWORK } from '../../model/resources.ts';
import { tokenName } from '../../model/token-record.ts';
import type { HistoryServices } from '../../state/services.ts';
import { sameMeaning } from '../verify/record-expectations.ts';
import { commitAt } from './kept-past.ts';

/** Entries of the audit log looked at to find the newest change of a kind. */
const MAX_ENTRIES = 2_000;
const PAGE = 200;

/** Kinds of records whose change counts as the last change, whether or not it can be reverted. */
const OF_NETWORK = [
  'MeshPolicy',
  'MeshNetwork',
  'MeshPeer',
  'AgentIdentity',
  'Token',
  'Workspace',
] as const satisfies readonly Kind[];

const JOIN_TOKENS = tokenName('join', '');

/** A commit and its position in the audit log. */
export interface LastChange {
  readonly seq: number;
  readonly commit: Commit;
}

export function isDeliberate(commit: Pick<Commit, 'changes'>): boolean {
  return deliberateChanges(commit).length > 0;
}

/** Nothing of what comes with an agent. */
export function deliberateChanges({ changes }: Pick<Commit, 'changes'>): readonly Change[] {
  return withRenames(changes).filter(({ type, record, before }) => {
    if (record.kind === 'MeshPeer') return type === 'updated' && !sameMeaning(before, record);
    if (record.kind !== 'MeshPolicy' && record.kind !== 'MeshNetwork') return false;
    if (record.kind === 'MeshNetwork' && record.name === DEFAULT_NETWORK && type === 'created') return false;
    return !isOfAgent(record) && !(type === 'updated' && sameMeaning(before, record));
  });
}

/** The newest commit that people or agents made and that changed what can be brought back. */
export async function lastChange(services: HistoryServices, workspace: string): Promise<LastChange | undefined> {
  const found: LastChange[] = [];
  for (const kind of ['MeshPolicy', 'MeshNetwork', 'MeshPeer'] as const) {
    const above = Math.max(-1, ...found.map(({ seq }) => seq));
    for await (const { seq, commit } of callersEntries(services, workspace, kind, above)) {
      const whole = commit && (await commitAt(services, workspace, commit.revision));
      if (!whole || !isDeliberate(whole)) continue;
      found.push({ seq, commit: whole });
      break;
    }
  }
  return found.toSorted((a, b) => b.seq - a.seq)[0];
}

/**
 * Names the newest change of the network, its settings or who joins it that people or agents made after another one, of those
 * that cannot be taken back; undefined where there is none.
 */
export async function changeSince(
  services: HistoryServices,
  workspace: string,
  { seq }: LastChange,
): Promise<string | undefined> {
  let newest: AuditEntry | undefined;
  for (const kind of OF_NETWORK) {
    for await (const entry of callersEntries(services, workspace, kind, newest?.seq ?? seq)) {
      if (isOfMachine(entry)) continue;
      if (kind === 'Token' && !entry.commit?.changes.some(isJoinToken)) continue;
      newest = entry;
      break;
    }
  }
  return newest && entryText(newest);
}

/** Devices come, and report themselves, at any time. */
function isOfMachine({ actor }: AuditEntry): boolean {
  return actor.startsWith('device:') || actor.startsWith('token:');
}

function isJoinToken({ kind, name }: { readonly kind: Kind; readonly name: string }): boolean {
  return kind === 'Token' && name.startsWith(JOIN_TOKENS);
}

function entryText({ actor, commit, event }: AuditEntry): string {
  if (commit) return `revision ${commit.revision} of ${actor} (${commit.reason})`;
  return `that of ${actor} (${event?.detail?.['reason'] ?? event?.type})`;
}

/** Entries above a position that no job of the control plane wrote, newest first. */
async function* callersEntries(
  { store }: HistoryServices,
  workspace: string,
  kind: Kind,
  above: number,
): AsyncGenerator<AuditEntry> {
  let before: number | undefined;
  for (let seen = 0; seen < MAX_ENTRIES; seen += PAGE) {
    const page = await store.audit(workspace, {
      kind,
      author: 'caller',
      limit: PAGE,
      ...(before !== undefined && { before }),
    });
    for (const entry of page) {
      if (entry.seq <= above) return;
      yield entry;
    }
    if (page.length < PAGE) return;
    before = page.at(-1)?.seq;
  }
}
