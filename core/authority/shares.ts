import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import type { Kind, StoredRecord } from '../base/record.ts';
import { formatInstant, hasEnded } from '../base/time.ts';
import { lookUpById } from '../model/find.ts';
import { beginOf, waits } from '../model/policy-match.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { family, isLive } from '../state/agent-tree.ts';
import type { NetworkServices } from '../state/services.ts';
import { isStateKind, type NetworkState, recordsOf } from '../state/state.ts';
import type { Write } from './writes.ts';

/**
 * Quota of a root agent with all its descendants in a workspace, so that no tree of agents uses up what others need. Peers
 * have a quota of their own, where devices register.
 */
export const AGENT_SHARES = {
  /** Living sub-agents. */
  AgentIdentity: 250,
  /** Join tokens. */
  Token: 50,
  /** Plans that are not used and have not expired. */
  Plan: 100,
  /** Workflows that wait for a person. */
  Workflow: 50,
  /** Snapshots taken in a day. */
  Snapshot: 100,
  /** Assessments made in a day. */
  Assessment: 50,
  /** Policies that it wrote by itself. */
  MeshPolicy: 250,
} as const satisfies Partial<Record<Kind, number>>;

/** Different instants for which the policies of a root agent and its descendants wait: a workspace has `MAX_BEGINS` in all. */
export const AGENT_BEGINS = 3;

type SharedKind = keyof typeof AGENT_SHARES;

const DAY_MS = 86_400_000;

/** @throws MeshError `conflict` naming the share that is used up */
export async function requireShare(
  { store, clock }: Pick<NetworkServices, 'store' | 'clock'>,
  state: NetworkState,
  caller: Caller,
  writes: readonly Write[],
): Promise<void> {
  const line = treeOf(state, caller);
  requireFewBegins(state, line, writes);
  for (const [kind, share] of Object.entries(AGENT_SHARES) as [SharedKind, number][]) {
    const asked = writes.filter((write) => write.kind === kind && write.type === 'created').length;
    if (asked === 0) continue;
    const records: readonly StoredRecord<SharedKind>[] = isStateKind(kind)
      ? [...recordsOf(state, kind).values()]
      : (await store.list(state.workspace, kind)).items;
    const held = records.filter((record) => counts(record, line, clock.now()));
    if (held.length + asked <= share) continue;
    throw new MeshError(
      'conflict',
      `An agent and its sub-agents hold at most ${share} ${NOUNS[kind]}, and these are used up: ${nextStep(held)}.`,
      { share },
    );
  }
}

function requireFewBegins({ waiting }: NetworkState, { ids }: Tree, writes: readonly Write[]): void {
  const own = [...waiting.values()].filter(({ annotations }) => ids.has(annotations[WRITTEN_BY] ?? ''));
  const names = new Set(writes.map(({ name }) => name));
  const written = writes.flatMap(({ after }) => (after?.kind === 'MeshPolicy' && waits(after.spec) ? [after] : []));
  const begins = new Set([...own.filter(({ name }) => !names.has(name)), ...written].map(({ spec }) => beginOf(spec)));
  if (written.length === 0 || begins.size <= AGENT_BEGINS) return;
  throw new MeshError(
    'conflict',
    `Policies of an agent and its sub-agents wait for at most ${AGENT_BEGINS} different times: choose one of these times, or wait until one has passed.`,
    { share: AGENT_BEGINS },
  );
}

/** Nobody ends a plan: it ends when it is applied, or by itself. */
function nextStep(held: readonly StoredRecord<SharedKind>[]): string {
  const ends = held.flatMap((record) => (record.kind === 'Plan' ? [record.spec.expiresAt] : []));
  if (ends.length === 0) return 'end or use some, or wait';
  const next = formatInstant(Math.min(...ends));
  return `preview with dry_run, which keeps no plan, apply one, or wait until ${next}, when the oldest ends by itself`;
}

const NOUNS: Readonly<Record<SharedKind, string>> = {
  AgentIdentity: 'living sub-agents',
  Token: 'join tokens',
  Plan: 'open plans',
  Workflow: 'workflows that wait for a person',
  Snapshot: 'snapshots a day',
  Assessment: 'assessments a day',
  MeshPolicy: 'policies of their own',
};

interface Tree {
  readonly ids: ReadonlySet<string>;
  readonly subjects: ReadonlySet<string>;
}

/** The root agent of the caller with everything below it. */
function treeOf(state: NetworkState, { id, line = [id], subject }: Caller): Tree {
  const root = lookUpById(state.agents, line.at(-1) ?? id);
  const tree = root ? family(state, root) : [];
  return {
    ids: new Set([id, ...tree.map(({ uid }) => uid)]),
    subjects: new Set([subject, ...tree.map(({ name }) => `agent:${name}`)]),
  };
}

function counts(record: StoredRecord<SharedKind>, { ids, subjects }: Tree, now: number): boolean {
  switch (record.kind) {
    case 'AgentIdentity':
      return record.spec.parentRef !== undefined && ids.has(record.uid) && isLive(record, now);
    case 'Token': {
      const { spec } = record;
      return spec.kind === 'join' && spec.issuedBy !== undefined && ids.has(spec.issuedBy);
    }
    case 'Plan': {
      const { spec, status } = record;
      return ids.has(spec.requesterId) && status.workflowId === undefined && !hasEnded(spec, now);
    }
    case 'Workflow': {
      const { spec, status } = record;
      return ids.has(spec.requesterId) && status.state === 'pending';
    }
    case 'Snapshot': {
      const { trigger, triggeredBy, capturedAt } = record.spec;
      return trigger === 'manual' && subjects.has(triggeredBy) && capturedAt > now - DAY_MS;
    }
    case 'Assessment': {
      const { generatedBy, generatedAt } = record.spec;
      return subjects.has(generatedBy) && generatedAt > now - DAY_MS;
    }
    case 'MeshPolicy':
      return ids.has(record.annotations[WRITTEN_BY] ?? '');
    default:
      return record satisfies never;
  }
}
