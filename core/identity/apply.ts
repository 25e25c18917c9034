import { z } from 'zod';
import { type FieldError, invalidInput } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { readYaml } from '../base/read-yaml.ts';
import { MAX_FIELD_ERRORS } from '../base/schema-errors.ts';
import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { hasEnded } from '../base/time.ts';
import type { NetworkChange } from '../changes/changes.ts';
import { readChange, requireDocumentCount } from '../changes/manifest.ts';
import { pruning } from '../changes/prune.ts';
import { unknownNamesFinder } from '../changes/unknown-names.ts';
import type { PrunedKind } from '../model/file-records.ts';
import { normalizeName } from '../model/resources.ts';
import { workspaceById } from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { type AgentManifest, readAgentManifest } from './agent-manifest.ts';
import type { RulesAsked } from './apply-rules.ts';
import { type RuleManifest, readRuleManifest } from './rule-manifest.ts';

/** The requested changes, agents and rules for workloads, each with the index of its document in the request. */
export interface DocumentChanges {
  readonly documents: readonly unknown[];
  readonly changes: readonly NetworkChange[];
  /** Deletions have none: they follow the others. */
  readonly changePlaces: readonly number[];
  readonly agents: readonly AgentManifest[];
  readonly agentPlaces: readonly number[];
  readonly rules: RulesAsked;
  readonly rulePlaces: readonly number[];
  /** Policies whose time is over: where documents say all there is, these say nothing. */
  readonly ended: readonly { readonly name: string; readonly place: number }[];
}

export interface ApplyRequest {
  readonly manifest?: string | undefined;
  readonly documents?: readonly unknown[] | undefined;
  /** Kinds of which the documents say all there is; then each also says all of its labels and annotations. */
  readonly prune?: readonly PrunedKind[] | undefined;
}

/**
 * The changes, agents and rules of a request to apply: YAML text with any number of documents, or the objects themselves. A
 * `List` is taken apart, as kubectl writes one.
 *
 * @throws MeshError `invalid_input` that names each wrong field of every document.
 */
export async function documentChanges(
  { services, workspace, caller }: CallContext<Pick<NetworkServices, 'store' | 'states' | 'yaml' | 'clock'>>,
  { manifest, documents, prune }: ApplyRequest,
): Promise<DocumentChanges> {
  if ((manifest === undefined) === (documents === undefined)) {
    throw invalidInput(
      [{ pointer: '/manifest', detail: 'Send YAML in manifest, or objects in documents: one of the two.' }],
      'Send YAML in manifest, or objects in documents: one of the two.',
    );
  }
  const all = (documents ?? readYaml(services.yaml, manifest ?? '')).flatMap(itemsOf);
  // Where kinds to prune are named, no document says that there is nothing of them.
  requireDocumentCount(all, prune !== undefined && prune.length > 0 ? 0 : 1);
  const state = await services.states.current(workspace);
  const { namespace } = (await workspaceById(services, workspace)).spec;
  const changes: NetworkChange[] = [];
  const agents: AgentManifest[] = [];
  const manifests: RuleManifest[] = [];
  const changePlaces: number[] = [];
  const agentPlaces: number[] = [];
  const rulePlaces: number[] = [];
  const ended: { name: string; place: number }[] = [];
  const errors: FieldError[] = [];
  const now = services.clock.now();
  const saysAll = prune !== undefined;
  // A caller without the right to list records learns of unknown names from the write, and no sooner.
  const mayList = caller.scopesIn(workspace).has('network:read') === true;
  const unknownNames = mayList ? unknownNamesFinder(state, all) : () => [];
  for (const [place, document] of all.entries()) {
    if (errors.length >= MAX_FIELD_ERRORS) break;
    const read = readDocument(document, state, namespace, saysAll);
    const faults = [...(Array.isArray(read) ? read : []), ...unknownNames(document)];
    errors.push(...faults.map((fault) => ({ ...fault, pointer: `/documents/${place}${fault.pointer}` })));
    if (Array.isArray(read)) continue;
    if ('resource' in read && saysAll && isOver(read, now)) {
      ended.push({ name: read.name, place });
    } else if ('resource' in read) {
      changes.push(read);
      changePlaces.push(place);
    } else if (read.kind === 'WorkloadRule') {
      manifests.push(read);
      rulePlaces.push(place);
    } else {
      agents.push(read);
      agentPlaces.push(place);
    }
  }
  if (errors.length > 0) throw invalidInput(withDocuments(errors.slice(0, MAX_FIELD_ERRORS), all));
  if (prune) changes.push(...pruning(prune, changes, state, { by: caller.id, now }));
  const made = new Set(
    changes.flatMap((one) =>
      one.action === 'create' && one.resource === 'MeshNetwork' ? [normalizeName(one.name)] : [],
    ),
  );
  const rules = { manifests, isPruning: prune?.includes('WorkloadRule') === true, saysAll, made };
  return { documents: all, changes, changePlaces, agents, agentPlaces, rules, rulePlaces, ended };
}

function readDocument(
  document: unknown,
  state: NetworkState,
  namespace: string,
  saysAll: boolean,
): NetworkChange | AgentManifest | RuleManifest | FieldError[] {
  switch (kindOf(document)) {
    case 'AgentIdentity':
      return readAgentManifest(document, namespace);
    case 'WorkloadRule':
      return readRuleManifest(document, namespace);
    default:
      return readChange(document, state, namespace, saysAll);
  }
}

const AT_DOCUMENT = /^\/documents\/(\d+)/;

/** Errors that point into documents, each with the kind and name of its own, where it has them. */
export function withDocuments(errors: readonly FieldError[], documents: readonly unknown[]): FieldError[] {
  return errors.map((error) => {
    const index = AT_DOCUMENT.exec(error.pointer)?.[1];
    const document = index === undefined ? undefined : headOf(documents[Number(index)]);
    return document ? { ...error, document } : error;
  });
}

/** As it stands in the document: text that breaks no line. */
const headSchema = z.looseObject({
  kind: lineOfText(TEXT_LIMITS.name),
  metadata: z.looseObject({ name: lineOfText(TEXT_LIMITS.name) }),
});

function headOf(document: unknown): FieldError['document'] {
  const { kind, metadata } = headSchema.safeParse(document).data ?? {};
  return kind !== undefined && metadata ? { kind, name: metadata.name } : undefined;
}

/** Returns true if a change would write an expired policy. */
function isOver(change: NetworkChange, now: number): boolean {
  if (change.action === 'delete' || change.resource !== 'MeshPolicy') return false;
  return hasEnded(change.spec, now);
}

function itemsOf(document: unknown): unknown[] {
  if (typeof document !== 'object' || document === null) return [document];
  const { kind, items } = document as { kind?: unknown; items?: unknown };
  return kind === 'List' && Array.isArray(items) ? items : [document];
}

function kindOf(document: unknown): unknown {
  return typeof document === 'object' && document !== null && 'kind' in document ? document.kind : undefined;
}
