import { z } from 'zod';
import { listOf } from '../../core/base/list.ts';
import { TEXT_LIMITS } from '../../core/base/text.ts';
import type { ChangePlan } from '../../core/changes/changes.ts';
import { MAX_DOCUMENTS } from '../../core/changes/manifest.ts';
import { type DocumentChanges, withDocuments } from '../../core/identity/apply.ts';
import { PRUNED_KINDS } from '../../core/model/file-records.ts';
import { withErrors, withPointers } from '../submit.ts';

/** The input of apply and of its preview. */
export const applyFields = {
  manifest: z
    .string()
    .max(TEXT_LIMITS.manifest)
    .optional()
    .describe('YAML documents; also by Content-Type: application/yaml'),
  documents: listOf(z.unknown(), MAX_DOCUMENTS).optional().describe('Custom resource objects'),
  prune: listOf(z.enum(PRUNED_KINDS), PRUNED_KINDS.length)
    .optional()
    .describe(
      'Kinds of which the documents say all there is: others are deleted, but for the default network and what agents made. Each document then says all labels and annotations',
    ),
};

export const appliedItem = z.strictObject({
  kind: z.string(),
  name: z.string(),
  result: z
    .enum(['created', 'updated', 'unchanged', 'deleted', 'ended'])
    .describe('ended: with prune, a policy or rule whose time is over, which is taken for none'),
  token: z.string().optional().describe('Of a root agent that was made: its token, shown this once'),
  enrollmentToken: z.string().optional().describe('Of a sub-agent that was made: with it the agent enrols, once'),
  expiresAt: z.string().optional().describe('Of an agent that was made: when it ends'),
  joinToken: z.string().optional().describe('Of a rule for workloads: what they join with, which is no secret'),
});
type Item = z.input<typeof appliedItem>;

/** Returns the result of each document, in their order, and of each record that is also deleted. */
export function itemsOf(
  { changes, changePlaces, agentPlaces, rulePlaces, ended }: DocumentChanges,
  outcomes: ChangePlan['outcomes'],
  agents: readonly Omit<Item, 'kind'>[],
  rules: readonly Omit<Item, 'kind'>[],
): Item[] {
  const items = [
    ...outcomes.map(({ name, outcome }, index) => ({
      place: changePlaces[index] ?? Number.POSITIVE_INFINITY,
      item: { kind: changes[index]?.resource ?? '', name, result: outcome },
    })),
    ...ended.map(({ name, place }) => ({ place, item: { kind: 'MeshPolicy', name, result: 'ended' as const } })),
    ...agents.map((agent, index) => ({ place: agentPlaces[index] ?? 0, item: { kind: 'AgentIdentity', ...agent } })),
    ...rules.map((rule, index) => ({
      place: rulePlaces[index] ?? Number.POSITIVE_INFINITY,
      item: { kind: 'WorkloadRule', ...rule },
    })),
  ];
  return items.toSorted((a, b) => (a.place === b.place ? 0 : a.place - b.place)).map(({ item }) => item);
}

/** Does what is asked; what is wrong with it is said of the documents, each by its kind and name. */
export function inDocuments<T>({ documents, changePlaces }: DocumentChanges, work: Promise<T>): Promise<T> {
  const placeOf = (index: number) => {
    const place = changePlaces[index];
    return place === undefined ? '/prune' : documentAt(place);
  };
  return withErrors(withPointers(placeOf, work), (errors) =>
    withDocuments(
      errors.map((error) => ({ ...error, pointer: inDocument(error.pointer) })),
      documents,
    ),
  );
}

/** Where a document has what a change has beside its spec. */
function inDocument(pointer: string): string {
  return pointer.replace(/^(\/documents\/\d+)\/(name|labels|annotations|network)(?=\/|$)/, (_, place, field) =>
    field === 'network' ? `${place}/spec/network` : `${place}/metadata/${field}`,
  );
}

/** Where a document stands in the request. */
export const documentAt = (place: number | undefined) => `/documents/${place}`;

/** `applied 3 documents: created lab; deleted web-to-db`; without outcomes how many it would delete. */
export function reasonOf(
  verb: string,
  { changes, changePlaces, agents, rules }: DocumentChanges,
  outcomes?: readonly Outcome[],
): string {
  const count = changePlaces.length + agents.length + rules.manifests.length;
  const text = `${verb} ${count} ${count === 1 ? 'document' : 'documents'}`;
  if (outcomes) return [text, changedText(outcomes)].filter((part) => part !== '').join(': ');
  const deleted = changes.length - changePlaces.length;
  return deleted === 0 ? text : `${text}, deleted ${deleted} besides`;
}

interface Outcome {
  readonly name: string;
  readonly outcome: Item['result'];
}

/** Names that a reason says of each outcome. */
const MAX_NAMES = 5;

function changedText(outcomes: readonly Outcome[]): string {
  const texts = (['created', 'updated', 'deleted'] as const).flatMap((outcome) => {
    const names = outcomes.filter((one) => one.outcome === outcome).map(({ name }) => name);
    if (names.length === 0) return [];
    const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
    return [`${outcome} ${names.slice(0, MAX_NAMES).join(', ')}${more}`];
  });
  return texts.join('; ');
}
