import { type FieldError, invalidInput } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { MAX_FIELD_ERRORS } from '../base/schema-errors.ts';
import { parseInstant } from '../base/time.ts';
import type { NetworkChange } from '../changes/changes.ts';
import { readChange, requireDocumentCount } from '../changes/manifest.ts';
import { pruning } from '../changes/prune.ts';
import { readYaml } from '../changes/resource-input.ts';
import type { PrunedKind } from '../model/in-files.ts';
import { workspaceById } from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AgentManifest, readAgentManifest } from './agent-manifest.ts';

/** What is asked for, each with the place of its document in the request. */
export interface AppliedDocuments {
  readonly changes: readonly NetworkChange[];
  /** Deletions have none: they follow the others. */
  readonly changePlaces: readonly number[];
  readonly agents: readonly AgentManifest[];
  readonly agentPlaces: readonly number[];
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
 * The changes and the agents of a request to apply: YAML text with any number of documents, or the objects themselves. A
 * `List` is taken apart, as kubectl writes one.
 *
 * @throws MeshError `invalid_input` that names each wrong field of every document.
 */
export async function appliedDocuments(
  { services, workspace, caller }: CallContext<Pick<NetworkServices, 'store' | 'states' | 'yaml' | 'clock'>>,
  { manifest, documents, prune }: ApplyRequest,
): Promise<AppliedDocuments> {
  if ((manifest === undefined) === (documents === undefined)) {
    throw invalidInput(
      [{ pointer: '/manifest', detail: 'Send YAML in manifest, or objects in documents: one of the two.' }],
      'Send YAML in manifest, or objects in documents: one of the two.',
    );
  }
  const all = (documents ?? readYaml(services, manifest ?? '')).flatMap(itemsOf);
  requireDocumentCount(all);
  const state = await services.states.current(workspace);
  const { namespace } = (await workspaceById(services, workspace)).spec;
  const changes: NetworkChange[] = [];
  const agents: AgentManifest[] = [];
  const changePlaces: number[] = [];
  const agentPlaces: number[] = [];
  const ended: { name: string; place: number }[] = [];
  const errors: FieldError[] = [];
  const now = services.clock.now();
  const saysAll = prune !== undefined;
  for (const [place, document] of all.entries()) {
    const read = isAgent(document)
      ? readAgentManifest(document, namespace)
      : readChange(document, state, namespace, saysAll);
    if (Array.isArray(read)) {
      errors.push(...read.map(({ pointer, detail }) => ({ pointer: `/documents/${place}${pointer}`, detail })));
    } else if ('resource' in read && saysAll && isOver(read, now)) {
      ended.push({ name: read.name, place });
    } else if ('resource' in read) {
      changes.push(read);
      changePlaces.push(place);
    } else {
      agents.push(read);
      agentPlaces.push(place);
    }
  }
  if (errors.length > 0) throw invalidInput(errors.slice(0, MAX_FIELD_ERRORS));
  if (prune) changes.push(...pruning(prune, changes, state, { by: caller?.id, now }));
  return { changes, changePlaces, agents, agentPlaces, ended };
}

/** Whether a change would write a policy whose time is over. */
function isOver(change: NetworkChange, now: number): boolean {
  if (change.action === 'delete' || change.resource !== 'MeshPolicy') return false;
  const { expiresAt } = change.spec;
  return expiresAt !== undefined && parseInstant(expiresAt) <= now;
}

function itemsOf(document: unknown): unknown[] {
  if (typeof document !== 'object' || document === null) return [document];
  const { kind, items } = document as { kind?: unknown; items?: unknown };
  return kind === 'List' && Array.isArray(items) ? items : [document];
}

function isAgent(document: unknown): boolean {
  return typeof document === 'object' && document !== null && 'kind' in document && document.kind === 'AgentIdentity';
}
