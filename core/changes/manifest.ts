import { z } from 'zod';
import { type FieldError, invalidInput, sentenceOf } from '../base/errors.ts';
import { API_VERSION } from '../base/record.ts';
import { fieldErrorsOf, MAX_FIELD_ERRORS, PLAINLY } from '../base/schema-errors.ts';
import { lineOfText, mapOf, TEXT_LIMITS } from '../base/text.ts';
import { lookUp } from '../model/find.ts';
import { labelsSchema } from '../model/labels.ts';
import { networkSpecSchema } from '../model/network-spec.ts';
import { policyInputSchema } from '../model/policy.ts';
import type { PeerSpec } from '../model/resources.ts';
import { sameValue } from '../model/value.ts';
import type { NetworkState } from '../state/state.ts';
import type { NetworkChange } from './changes.ts';

/** Documents of one apply; more would not fit into one commit. */
export const MAX_DOCUMENTS = 500;

/** Annotations on one record. */
export const MAX_ANNOTATIONS = 64;

export const annotationsSchema = mapOf(
  lineOfText(TEXT_LIMITS.labelKey).min(1),
  z.string().max(TEXT_LIMITS.annotation),
  MAX_ANNOTATIONS,
  'annotations',
);

export const nameSchema = lineOfText(TEXT_LIMITS.name).min(1).describe('spaces become hyphens');

const metadataSchema = z.strictObject({
  name: nameSchema,
  namespace: lineOfText(TEXT_LIMITS.name).optional(),
  labels: labelsSchema.optional(),
  annotations: annotationsSchema.optional(),
});

const headSchema = z.looseObject({
  apiVersion: z.literal(API_VERSION, { error: `apiVersion is ${API_VERSION}` }),
  kind: z.enum(['MeshPolicy', 'MeshNetwork', 'MeshPeer'], {
    error: 'kind is MeshPolicy, MeshNetwork, MeshPeer or AgentIdentity',
  }),
});

const fields = { apiVersion: z.unknown(), metadata: metadataSchema, status: z.unknown().optional() };
const policyManifest = z.strictObject({ ...fields, kind: z.literal('MeshPolicy'), spec: policyInputSchema });
const networkManifest = z.strictObject({ ...fields, kind: z.literal('MeshNetwork'), spec: networkSpecSchema });
const peerManifest = z.strictObject({
  ...fields,
  kind: z.literal('MeshPeer'),
  spec: z.looseObject({ network: lineOfText(TEXT_LIMITS.name).optional() }).optional(),
});

/** By kind, what one document holds. */
export const manifestSchemas = { MeshPolicy: policyManifest, MeshNetwork: networkManifest, MeshPeer: peerManifest };

type Manifest = z.output<typeof policyManifest> | z.output<typeof networkManifest> | z.output<typeof peerManifest>;

/**
 * The changes that make the network what the documents say: each resource is created, or updated where it exists.
 *
 * @param pointer where the documents stand in the request; `''` names a single document itself.
 * @throws MeshError `invalid_input` with a pointer for each wrong field of any document.
 */
export function changesOf(
  documents: readonly unknown[],
  state: NetworkState,
  namespace: string,
  pointer: (index: number) => string = (index) => `/documents/${index}`,
): NetworkChange[] {
  requireDocumentCount(documents);
  const errors: FieldError[] = [];
  const changes = documents.flatMap((document, index) => {
    const parsed = parseManifest(document);
    if (Array.isArray(parsed)) {
      errors.push(...parsed.map((error) => ({ ...error, pointer: pointer(index) + error.pointer })));
      return [];
    }
    const wrong = misplaced(parsed, state, namespace);
    errors.push(...wrong.map((error) => ({ ...error, pointer: pointer(index) + error.pointer })));
    return [changeOf(parsed, state)];
  });
  if (errors.length > 0) {
    throw invalidInput(errors.slice(0, MAX_FIELD_ERRORS), sentenceOf(errors));
  }
  return changes;
}

/** @throws MeshError `invalid_input` */
export function requireDocumentCount({ length }: readonly unknown[]): void {
  if (length > 0 && length <= MAX_DOCUMENTS) return;
  const detail = `1 to ${MAX_DOCUMENTS} documents are accepted, ${length} were sent.`;
  throw invalidInput([{ pointer: '', detail }], detail);
}

function parseManifest(document: unknown): Manifest | FieldError[] {
  const head = headSchema.safeParse(document, PLAINLY);
  if (!head.success) return fieldErrorsOf(head.error);
  const schema = manifestSchemas[head.data.kind];
  const parsed = schema.safeParse(document, PLAINLY);
  return parsed.success ? parsed.data : fieldErrorsOf(parsed.error);
}

/** What a schema cannot see: another namespace, and fields of a peer that its device owns. */
function misplaced(manifest: Manifest, state: NetworkState, namespace: string): FieldError[] {
  const { metadata } = manifest;
  const errors: FieldError[] = [];
  if (metadata.namespace !== undefined && metadata.namespace !== namespace) {
    errors.push({ pointer: '/metadata/namespace', detail: `The namespace of this workspace is ${namespace}.` });
  }
  if (manifest.kind !== 'MeshPeer') return errors;
  const held: Partial<PeerSpec> = lookUp(state.peers, metadata.name)?.spec ?? {};
  for (const [field, value] of Object.entries(manifest.spec ?? {})) {
    if (field === 'network' || sameValue(value, held[field as keyof PeerSpec])) continue;
    errors.push({ pointer: `/spec/${field}`, detail: 'Of a peer only labels and spec.network can be changed.' });
  }
  return errors;
}

function changeOf(manifest: Manifest, state: NetworkState): NetworkChange {
  const { name, labels, annotations } = manifest.metadata;
  if (manifest.kind === 'MeshPeer') {
    const network = manifest.spec?.network;
    return { action: 'update', resource: 'MeshPeer', name, ...(labels && { labels }), ...(network && { network }) };
  }
  const meta = { name, ...(labels && { labels }), ...(annotations && { annotations }) };
  if (manifest.kind === 'MeshPolicy') {
    const action = lookUp(state.policies, name) ? 'update' : 'create';
    return { action, resource: 'MeshPolicy', ...meta, spec: manifest.spec };
  }
  const action = lookUp(state.networks, name) ? 'update' : 'create';
  return { action, resource: 'MeshNetwork', ...meta, spec: manifest.spec };
}
