import { z } from 'zod';
import { type FieldError, invalidInput, MeshError, sentenceOf } from '../../base/errors.ts';
import { isObject } from '../../base/is-object.ts';
import { listOf } from '../../base/list.ts';
import { MAX_FIELD_ERRORS } from '../../base/schema-errors.ts';
import { lineOfText, TEXT_LIMITS } from '../../base/text.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import { readChange } from '../../changes/manifest.ts';
import { lookUp } from '../../model/find.ts';
import { MAX_LABELS } from '../../model/labels.ts';
import type { NetworkState } from '../../state/state.ts';
import type { OrderInput } from '../orders/order.ts';
import { MAX_CHANGES, parseChange } from './change-input.ts';

/** New labels or another network of a peer. Labels that it does not name stay. */
export interface SetInput {
  readonly peer: string;
  readonly network?: string | undefined;
  /** `key=value` sets, `key=` takes away. */
  readonly labels?: readonly string[] | undefined;
}

const setInputSchema = z.strictObject({
  peer: lineOfText(TEXT_LIMITS.reference).trim().min(1).describe('Name or id'),
  labels: listOf(lineOfText(TEXT_LIMITS.term).trim().min(1), MAX_LABELS).optional().describe('a=b sets, a= removes'),
  network: lineOfText(TEXT_LIMITS.name).trim().min(1).optional().describe('Moves it there'),
});

/** Edits as callers send them: strings and lists alone. */
export const editFields = {
  documents: z.string().max(TEXT_LIMITS.manifest).optional().describe('YAML of whole policies or networks'),
  set: listOf(setInputSchema, MAX_CHANGES).min(1).optional().describe('Labels and networks of peers'),
  delete: listOf(lineOfText(TEXT_LIMITS.reference).trim().min(1), MAX_CHANGES)
    .min(1)
    .optional()
    .describe('policy/name, network/name'),
};

/** Changes of records that callers and planners send beside orders. */
export interface Edits {
  /** Custom resources, each created or replaced. */
  readonly documents?: readonly unknown[] | undefined;
  readonly set?: readonly SetInput[] | undefined;
  /** `policy/NAME` or `network/NAME`. */
  readonly delete?: readonly string[] | undefined;
}

/** Orders, and changes of records beside them. */
export interface OrderedInput extends Edits {
  readonly orders: readonly OrderInput[];
  /** Must be so afterwards, among other things. */
  readonly hold?: readonly OrderInput[] | undefined;
}

/** Kinds of documents that no plan holds: what they make shows a token, or is judged by who makes it. */
const APPLIED: ReadonlyMap<unknown, string> = new Map([
  ['AgentIdentity', 'An agent'],
  ['WorkloadRule', 'A rule for workloads'],
]);

/**
 * Returns the typed changes of edits.
 *
 * @throws MeshError `invalid_input` that names each faulty field
 */
export function changesOfEdits(
  { documents = [], set = [], delete: deleted = [] }: Edits,
  state: NetworkState,
  namespace: string,
): NetworkChange[] {
  const errors: FieldError[] = [];
  const at = (pointer: string) => (error: FieldError) => errors.push({ ...error, pointer: pointer + error.pointer });
  const changes = [
    ...documents.flatMap((document, index) => {
      const applied = isObject(document) ? APPLIED.get(document['kind']) : undefined;
      if (applied !== undefined) {
        const detail = `${applied} is made by applying its document (mesh apply), not by a plan.`;
        errors.push({ pointer: `/documents/${index}`, detail });
        return [];
      }
      const change = readChange(document, state, namespace);
      if (!Array.isArray(change)) return [change];
      change.forEach(at(`/documents/${index}`));
      return [];
    }),
    ...set.flatMap((one, index) => changeOfSet(one, state, at(`/set/${index}`))),
    ...deleted.map((word, index) => deletionOf(word, at(`/delete/${index}`))),
  ];
  if (errors.length > 0) throw invalidInput(errors.slice(0, MAX_FIELD_ERRORS), sentenceOf(errors));
  return changes;
}

/** Runs work on typed changes of edits; its errors name the places of these instead. */
export function inEdits<T>({ documents = [], set = [], delete: deleted = [] }: Edits, work: () => T): T {
  const fields = { documents, set, delete: deleted };
  const places = Object.entries(fields).flatMap(([field, list]) => list.map((_, index) => `/${field}/${index}`));
  try {
    return work();
  } catch (error) {
    if (!(error instanceof MeshError) || error.code !== 'invalid_input') throw error;
    const errors = ((error.details['errors'] ?? []) as readonly FieldError[]).map((one) => ({
      ...one,
      pointer: one.pointer.replace(/^\/changes\/(\d+)/, (_, index: string) => places[Number(index)] ?? ''),
    }));
    throw invalidInput(errors, sentenceOf(errors));
  }
}

type Refuse = (error: FieldError) => void;

function changeOfSet({ peer: name, network, labels }: SetInput, state: NetworkState, refuse: Refuse): NetworkChange[] {
  if (labels === undefined && network === undefined) refuse({ pointer: '', detail: 'Say labels or network.' });
  const next = new Map(Object.entries(lookUp(state.peers, name)?.labels ?? {}));
  labels?.forEach((label, index) => {
    const end = label.indexOf('=');
    if (end < 1) {
      refuse({ pointer: `/labels/${index}`, detail: 'A label is written key=value, or key= to take it away.' });
      return;
    }
    const [key, value] = [label.slice(0, end), label.slice(end + 1)];
    if (value === '') next.delete(key);
    else next.set(key, value);
  });
  const spec = { ...(labels && { labels: Object.fromEntries(next) }), ...(network !== undefined && { network }) };
  const parsed = parseChange({ action: 'update', resource: 'MeshPeer', name, spec });
  if (parsed.success) return [parsed.data];
  for (const { pointer, detail } of parsed.errors) refuse({ pointer: pointer.replace(/^\/spec/, ''), detail });
  return [];
}

const KINDS: Readonly<Record<string, 'MeshPolicy' | 'MeshNetwork'>> = {
  policy: 'MeshPolicy',
  meshpolicy: 'MeshPolicy',
  network: 'MeshNetwork',
  meshnetwork: 'MeshNetwork',
};

function deletionOf(word: string, refuse: Refuse): NetworkChange {
  const end = word.indexOf('/');
  const resource = KINDS[word.slice(0, Math.max(end, 0)).toLowerCase()];
  if (resource === undefined) {
    refuse({ pointer: '', detail: 'Write policy/NAME or network/NAME. Peers have operations of their own.' });
  }
  return { action: 'delete', resource: resource ?? 'MeshPolicy', name: word.slice(end + 1) };
}
