import { z } from 'zod';
import { parseDuration } from '../base/duration.ts';
import type { FieldError } from '../base/errors.ts';
import { API_VERSION, foldName } from '../base/record.ts';
import { fieldErrorsOf, PLAINLY } from '../base/schema-errors.ts';
import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { annotationsSchema, elsewhere } from '../changes/manifest.ts';
import { labelsSchema } from '../model/labels.ts';
import { RESERVED_LABEL_PREFIX } from '../model/presets.ts';
import type { AgentRecord } from '../model/resources.ts';
import { sameValue } from '../model/value.ts';
import { agentName, rootAgentFields, subAgentFields } from './agent-request.ts';

const metadataSchema = z.strictObject({
  name: agentName,
  namespace: lineOfText(TEXT_LIMITS.name).optional(),
  uid: lineOfText(TEXT_LIMITS.id).optional().describe('Of the identity that the document is about; it makes no other'),
  labels: labelsSchema.optional(),
  annotations: annotationsSchema.optional(),
});

const parentRefSchema = z.strictObject({
  name: lineOfText(TEXT_LIMITS.reference).min(1),
  namespace: lineOfText(TEXT_LIMITS.name).optional(),
});

const fields = {
  apiVersion: z.literal(API_VERSION, { error: `apiVersion is ${API_VERSION}` }),
  kind: z.literal('AgentIdentity'),
  metadata: metadataSchema,
  status: z.unknown().optional(),
};

/** A root agent has no `parentRef`; an agent with one is the sub-agent of that agent. */
export const rootAgentManifest = z.strictObject({ ...fields, spec: z.strictObject(rootAgentFields).prefault({}) });
export const subAgentManifest = z.strictObject({
  ...fields,
  spec: z.strictObject({ parentRef: parentRefSchema, ...subAgentFields }),
});

export type AgentManifest = z.output<typeof rootAgentManifest> | z.output<typeof subAgentManifest>;

/** Returns the manifest of a document, or all of its faults. */
export function readAgentManifest(document: unknown, namespace: string): AgentManifest | FieldError[] {
  const parsed = (hasParent(document) ? subAgentManifest : rootAgentManifest).safeParse(document, PLAINLY);
  const errors = [...(parsed.error ? fieldErrorsOf(parsed.error) : []), ...misplaced(document, namespace)];
  return parsed.data && errors.length === 0 ? parsed.data : errors;
}

const hasParent = (document: unknown) =>
  z.looseObject({ spec: z.looseObject({ parentRef: z.unknown() }) }).safeParse(document).success;

const keys = z.looseObject({}).catch({});
const namespaceText = z.string().optional().catch(undefined);
/** Fields that are checked however wrong the rest of a document is. */
const placeSchema = z.looseObject({
  metadata: z.looseObject({ namespace: namespaceText, labels: keys, annotations: keys }).optional().catch(undefined),
  spec: z
    .looseObject({ parentRef: z.looseObject({ namespace: namespaceText }).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

function misplaced(document: unknown, namespace: string): FieldError[] {
  const { metadata, spec } = placeSchema.safeParse(document).data ?? {};
  const reserved = (field: 'labels' | 'annotations') =>
    Object.keys(metadata?.[field] ?? {}).some((key) => key.startsWith(RESERVED_LABEL_PREFIX))
      ? [{ pointer: `/metadata/${field}`, detail: `${RESERVED_LABEL_PREFIX} is for the control plane alone.` }]
      : [];
  return [
    ...elsewhere('/metadata/namespace', metadata?.namespace, namespace),
    ...elsewhere('/spec/parentRef/namespace', spec?.parentRef?.namespace, namespace),
    ...reserved('labels'),
    ...reserved('annotations'),
  ];
}

/**
 * Returns true if an identity matches its document. Labels and annotations that the document leaves out stay.
 *
 * @param asked the document's spec, with the ids of the peers that it lists
 */
export function isAsWritten(
  { uid, spec, labels, annotations }: AgentRecord,
  { metadata }: AgentManifest,
  asked: AgentManifest['spec'],
): boolean {
  const isSub = 'parentRef' in asked;
  return (
    (metadata.uid === undefined || metadata.uid === uid) &&
    sameParent(spec.parentRef?.name, isSub ? asked.parentRef.name : undefined) &&
    (asked.ttl === undefined || parseDuration(spec.ttl) === parseDuration(asked.ttl)) &&
    spec.policyPreset === asked.policyPreset &&
    sameValue([...spec.scopes].sort(), [...new Set<string>(asked.scopes)].sort()) &&
    (isSub ? sameValue(spec.egress ?? [], asked.egress) : sameValue(spec.reach ?? [], asked.reach)) &&
    (isSub || spec.tokenUses === undefined || spec.tokenUses === asked.tokenUses) &&
    (metadata.labels === undefined || sameValue(labels, metadata.labels)) &&
    (metadata.annotations === undefined || sameValue(annotations, metadata.annotations))
  );
}

function sameParent(stored: string | undefined, asked: string | undefined): boolean {
  return stored === undefined || asked === undefined ? stored === asked : foldName(stored) === foldName(asked);
}
