import { z } from 'zod';
import { type FieldError, invalidInput } from '../base/errors.ts';
import { API_VERSION } from '../base/record.ts';
import { fieldErrorsOf, PLAINLY } from '../base/schema-errors.ts';
import { lineOfText, linesOfText, mapOf, TEXT_LIMITS } from '../base/text.ts';
import { reservedOf } from '../model/file-records.ts';
import { lookUp } from '../model/find.ts';
import { labelsSchema } from '../model/labels.ts';
import { networkSpecSchema } from '../model/network-spec.ts';
import { policyInputSchema } from '../model/policy.ts';
import { type NetworkRecord, normalizeName, type PeerSpec, type PolicyRecord } from '../model/resources.ts';
import { sameValue } from '../model/value.ts';
import { type NetworkState, writtenPolicies } from '../state/state.ts';
import type { NetworkChange } from './changes.ts';

/** Documents of one apply: some more than the largest body holds of the smallest policies. */
export const MAX_DOCUMENTS = 2_000;

/** Annotations on one record. */
export const MAX_ANNOTATIONS = 64;

export const annotationsSchema = mapOf(
  lineOfText(TEXT_LIMITS.labelKey).min(1),
  linesOfText(TEXT_LIMITS.annotation),
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

const apiVersion = z.literal(API_VERSION, { error: `apiVersion is ${API_VERSION}` });
const kind = z.enum(['MeshPolicy', 'MeshNetwork', 'MeshPeer'], {
  error: 'kind is MeshPolicy, MeshNetwork, MeshPeer, AgentIdentity or WorkloadRule',
});

const fields = { apiVersion, metadata: metadataSchema, status: z.unknown().optional() };
const policyManifest = z.strictObject({ ...fields, kind: z.literal('MeshPolicy'), spec: policyInputSchema });
const networkManifest = z.strictObject({ ...fields, kind: z.literal('MeshNetwork'), spec: networkSpecSchema });
const peerManifest = z.strictObject({
  ...fields,
  kind: z.literal('MeshPeer'),
  spec: z.looseObject({ network: lineOfText(TEXT_LIMITS.name).optional() }).optional(),
});

/** By kind, what one document holds. */
export const manifestSchemas = { MeshPolicy: policyManifest, MeshNetwork: networkManifest, MeshPeer: peerManifest };
/** Schema of a document of any other kind. */
const otherManifest = z.looseObject({ apiVersion, kind, metadata: metadataSchema });
const kindOf = z.looseObject({ kind });

type Manifest = z.output<typeof policyManifest> | z.output<typeof networkManifest> | z.output<typeof peerManifest>;

/**
 * The change that makes a resource what a document says, created or updated where it exists; or all that is wrong in it.
 *
 * @param saysAll whether the record has no labels and annotations but those of the document; else what it leaves out stays
 */
export function readChange(
  document: unknown,
  state: NetworkState,
  namespace: string,
  saysAll = false,
): NetworkChange | FieldError[] {
  const { kind } = kindOf.safeParse(document).data ?? {};
  const read = kind && manifestSchemas[kind].safeParse(document, PLAINLY);
  const { error } = read ?? otherManifest.safeParse(document, PLAINLY);
  const errors = [...(error ? fieldErrorsOf(error) : []), ...misplaced(document, state, namespace)];
  if (!read?.data || errors.length > 0) return errors;
  const change = changeOf(read.data, state);
  return saysAll ? withNothingElse(change, state) : change;
}

/** @throws MeshError `invalid_input` */
export function requireDocumentCount({ length }: readonly unknown[], least = 1): void {
  if (length >= least && length <= MAX_DOCUMENTS) return;
  const detail = `${least} to ${MAX_DOCUMENTS} documents are accepted, ${length} were sent.`;
  throw invalidInput([{ pointer: '', detail }], detail);
}

/** Fields that are checked however wrong the rest of a document is. */
const placeSchema = z.looseObject({
  kind: z.unknown(),
  metadata: z
    .looseObject({ name: z.string().catch(''), namespace: z.string().optional().catch(undefined) })
    .catch({ name: '' }),
  spec: z.looseObject({}).catch({}),
});

/** Returns errors that a schema cannot find: another namespace, and fields of a peer that its device owns. */
function misplaced(document: unknown, state: NetworkState, namespace: string): FieldError[] {
  const { kind, metadata, spec } = placeSchema.safeParse(document).data ?? {};
  const errors = elsewhere('/metadata/namespace', metadata?.namespace, namespace);
  if (kind !== 'MeshPeer') return errors;
  const peer = lookUp(state.peers, metadata?.name ?? '');
  const held: Partial<PeerSpec> = peer?.spec ?? {};
  for (const [field, value] of Object.entries(spec ?? {})) {
    if (field === 'network' || sameValue(value, held[field as keyof PeerSpec])) continue;
    // In an export, the key tells which device is meant: an unknown device is reported at its lookup, with the nearest names.
    if (field === 'publicKey' && !peer) continue;
    errors.push({ pointer: `/spec/${field}`, detail: field === 'publicKey' ? OTHER_KEY : NOT_OURS });
  }
  return errors;
}

const NOT_OURS = 'Of a peer only labels and spec.network can be changed.';
const OTHER_KEY =
  'The peer of this name has another key: its device made a new one, or this is another device. Look at it, then export it again, or take publicKey out.';

/** A namespace that is named is that of the workspace. */
export function elsewhere(pointer: string, named: string | undefined, namespace: string): FieldError[] {
  return named === undefined || named === namespace
    ? []
    : [{ pointer, detail: `The namespace of this workspace is ${namespace}.` }];
}

/** Keeps the fields of a record that only the control plane sets. */
function withNothingElse(change: NetworkChange, state: NetworkState): NetworkChange {
  if (change.action === 'delete') return change;
  const { labels = {} } = change;
  if (change.resource === 'MeshPeer') return { ...change, labels };
  const held = lookUp<NetworkRecord | PolicyRecord>(
    change.resource === 'MeshPolicy' ? writtenPolicies(state) : state.networks,
    change.name,
  );
  return { ...change, labels, annotations: { ...change.annotations, ...reservedOf(held?.annotations ?? {}) } };
}

function changeOf(manifest: Manifest, state: NetworkState): NetworkChange {
  const { name: given, labels, annotations } = manifest.metadata;
  if (manifest.kind === 'MeshPeer') {
    const network = manifest.spec?.network;
    const meta = { name: given, ...(labels && { labels }), ...(network && { network }) };
    return { action: 'update', resource: 'MeshPeer', ...meta };
  }
  const name = normalizeName(given);
  const meta = { name, ...(labels && { labels }), ...(annotations && { annotations }) };
  if (manifest.kind === 'MeshPolicy') {
    const action = lookUp(writtenPolicies(state), name) ? 'update' : 'create';
    return { action, resource: 'MeshPolicy', ...meta, spec: manifest.spec };
  }
  const action = lookUp(state.networks, name) ? 'update' : 'create';
  return { action, resource: 'MeshNetwork', ...meta, spec: manifest.spec };
}
