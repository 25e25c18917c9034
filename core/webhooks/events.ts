import type { AuditEntry, Change, Store } from '../base/ports.ts';
import { StoreError } from '../base/ports.ts';
import type { Kind } from '../base/record.ts';
import { formatInstant } from '../base/time.ts';
import { isOfKind } from '../base/written-record.ts';
import type { Settings } from '../model/services.ts';
import { approvalUrl } from '../workflow/approval-url.ts';
import { type CommitEventType, isSecurityEventType } from './event-types.ts';

/** An event as a webhook receives it, kept thin: what happened, to which record, and where to read it. */
export interface WebhookEvent {
  readonly type: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An entry of the audit log as `AuditTree.entries` has it. */
export type LoggedEntry = Omit<AuditEntry, 'seq'>;

type LoggedCommit = NonNullable<AuditEntry['commit']>;
type LoggedChange = LoggedCommit['changes'][number];

interface EventServices {
  readonly store: Pick<Store, 'commits'>;
  readonly settings: Settings;
}

/** Records that one event names; the others are counted. */
export const MAX_EVENT_ITEMS = 20;
/** Longest text of people in an event. */
const MAX_TEXT = 300;
/** JSON of the detail of a security event. */
const MAX_DETAIL = 2_000;

/** The word of each kind in types of events, and where its records are read. Kinds that are not here make no events. */
const EVENT_WORDS: Partial<Record<Kind, { readonly word: string; readonly path?: string }>> = {
  MeshPeer: { word: 'peer', path: 'peers' },
  MeshPolicy: { word: 'policy', path: 'policies' },
  MeshNetwork: { word: 'network', path: 'networks' },
  PolicyAssertion: { word: 'assertion', path: 'assertions' },
  AgentIdentity: { word: 'agent', path: 'agents' },
  Presence: { word: 'peer' },
  Workflow: { word: 'workflow', path: 'workflows' },
  Snapshot: { word: 'snapshot', path: 'snapshots' },
  Assessment: { word: 'assessment', path: 'ai/compliance/assessments' },
  Member: { word: 'member' },
};

/** The events of one entry of the audit log: the one place where what happened becomes what webhooks are told. */
export async function eventsOf(services: EventServices, entry: LoggedEntry): Promise<WebhookEvent[]> {
  const { workspace, at, event, commit } = entry;
  const timestamp = formatInstant(at);
  if (event) {
    if (!isSecurityEventType(event.type)) return [];
    const { type, actor, result } = event;
    return [{ type, timestamp, data: { workspace, actor, result, ...boundedDetail(event.detail) } }];
  }
  if (!commit?.changes.some(({ kind }) => EVENT_WORDS[kind])) return [];
  const full = await changesOf(services, workspace, commit);
  const groups = Map.groupBy(commit.changes, (change) => typeOf(change, full.get(keyOf(change))) ?? '');
  const head = { workspace, revision: commit.revision, actor: commit.actor, reason: cut(commit.reason) };
  return [...groups].flatMap(([type, changes]): WebhookEvent[] => {
    if (type === '') return [];
    if (changes[0]?.kind !== 'Workflow') {
      return [{ type, timestamp, data: { ...head, ...itemsOf(services, changes) } }];
    }
    // Changes that wait for an approver are sent one by one, with the facts that the approver needs first.
    return changes.map((change) => {
      const { name } = change;
      const shown = workflowData(services, name, full.get(keyOf(change)));
      return { type, timestamp, data: { ...head, ...shown } };
    });
  });
}

/** The changes of a commit with their records, where history is kept of the kind and still there. */
async function changesOf(
  { store }: EventServices,
  workspace: string,
  { revision, changes }: LoggedCommit,
): Promise<ReadonlyMap<string, Change>> {
  const told: readonly Kind[] = ['Workflow', 'AgentIdentity', 'Presence'];
  if (!changes.some(({ kind, type }) => told.includes(kind) && type !== 'deleted')) return new Map();
  try {
    const [commit] = await store.commits(workspace, revision - 1, 1);
    return new Map((commit?.changes ?? []).map((change) => [keyOf(change.record), change]));
  } catch (error) {
    if (error instanceof StoreError && error.code === 'compacted') return new Map();
    throw error;
  }
}

function keyOf({ kind, name }: Pick<LoggedChange, 'kind' | 'name'>): string {
  return `${kind}/${name}`;
}

function typeOf({ kind, type }: LoggedChange, full: Change | undefined): CommitEventType | undefined {
  switch (kind) {
    case 'Workflow': {
      if (!full || !isOfKind(full, 'Workflow') || full.type === 'deleted') return undefined;
      const { state } = full.record.status;
      return full.before?.status.state === state ? undefined : `workflow.${state}`;
    }
    case 'Presence': {
      if (!full || !isOfKind(full, 'Presence') || full.type === 'deleted') return undefined;
      const { online } = full.record.spec;
      if (full.before?.spec.online === online) return undefined;
      return online ? 'peer.online' : 'peer.offline';
    }
    case 'AgentIdentity': {
      if (type !== 'updated' || !full || !isOfKind(full, 'AgentIdentity')) return `agent.${type}`;
      const hasEnded = ['Expired', 'Revoked'].includes(full.record.status.phase);
      return hasEnded && full.before?.status.phase !== full.record.status.phase ? 'agent.ended' : 'agent.updated';
    }
    case 'MeshPeer':
      return `peer.${type}`;
    case 'MeshPolicy':
      return `policy.${type}`;
    case 'MeshNetwork':
      return `network.${type}`;
    case 'PolicyAssertion':
      return `assertion.${type}`;
    case 'Member':
      return `member.${type}`;
    case 'Snapshot':
      return type === 'updated' ? undefined : `snapshot.${type}`;
    case 'Assessment':
      return type === 'created' ? 'assessment.created' : undefined;
    default:
      return undefined;
  }
}

function itemsOf({ settings }: EventServices, changes: readonly LoggedChange[]): object {
  const items = changes.slice(0, MAX_EVENT_ITEMS).map(({ kind, name, uid, type }) => {
    const path = type === 'deleted' ? undefined : EVENT_WORDS[kind]?.path;
    return { kind, name, id: uid, ...(path !== undefined && { url: `${settings.apiUrl}/api/v1/${path}/${uid}` }) };
  });
  return { items, count: changes.length, omitted: changes.length - items.length };
}

function workflowData(services: EventServices, id: string, full: Change | undefined): object {
  if (!full || !isOfKind(full, 'Workflow')) return { id };
  const { spec, status } = full.record;
  return {
    id,
    title: cut(spec.summary),
    status: status.state,
    risk: spec.riskLevel,
    opened_pairs: spec.effect.opened_pairs,
    closed_pairs: spec.effect.closed_pairs,
    requested_by: spec.requestedBy,
    reviewed_by: status.reviewedBy ?? null,
    expires_at: formatInstant(spec.expiresAt),
    review_url: approvalUrl(services, id),
    url: `${services.settings.apiUrl}/api/v1/workflows/${id}`,
  };
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

function boundedDetail(detail: Readonly<Record<string, unknown>> | undefined): object {
  if (!detail) return {};
  return JSON.stringify(detail).length <= MAX_DETAIL ? { detail } : { detail: {}, omitted_detail: true };
}
