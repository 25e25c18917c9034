import { z } from 'zod';
import type { FieldError } from '../base/errors.ts';
import { API_VERSION } from '../base/record.ts';
import { fieldErrorsOf, PLAINLY } from '../base/schema-errors.ts';
import { instantText, lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { annotationsSchema, elsewhere } from '../changes/manifest.ts';
import { labelsSchema } from '../model/labels.ts';
import { isReserved } from '../model/presets.ts';
import { NEW_NAME_PATTERN, normalizeName } from '../model/resources.ts';
import { deviceFields, MAX_JOIN_USES, workloadFields } from '../model/workload-rule.ts';

/** Texts that the control plane does not set itself. */
const ownTexts = (schema: typeof labelsSchema | typeof annotationsSchema) =>
  schema
    .refine((map) => !Object.keys(map).some(isReserved), { error: 'mesh.internal/ is for the control plane alone' })
    .default({});

const { identity, admits, preset, egress } = workloadFields;

/** A rule for workloads as a document: a join token that is found by its name. */
export const ruleManifest = z.strictObject({
  apiVersion: z.literal(API_VERSION, { error: `apiVersion is ${API_VERSION}` }),
  kind: z.literal('WorkloadRule'),
  metadata: z.strictObject({
    name: lineOfText(TEXT_LIMITS.name).refine((name) => NEW_NAME_PATTERN.test(normalizeName(name)), {
      error: 'a name is 1 to 63 letters, digits, ".", "_" or "-"; spaces become hyphens',
    }),
    namespace: lineOfText(TEXT_LIMITS.name).optional(),
    labels: ownTexts(labelsSchema),
    annotations: ownTexts(annotationsSchema),
  }),
  spec: z.strictObject({
    identity,
    ...deviceFields,
    admits: admits.optional(),
    preset: preset.optional(),
    egress: egress.optional(),
    usageLimit: z.int().min(1).max(MAX_JOIN_USES).optional(),
    expiresAt: instantText('expiresAt is an ISO 8601 time such as 2030-01-31T12:00:00Z').optional(),
  }),
  status: z.unknown().optional(),
});
export type RuleManifest = z.output<typeof ruleManifest>;

const placeSchema = z.looseObject({ metadata: z.looseObject({ namespace: z.string().optional().catch(undefined) }) });

/** Returns the manifest of a document, or all of its faults. */
export function readRuleManifest(document: unknown, namespace: string): RuleManifest | FieldError[] {
  const parsed = ruleManifest.safeParse(document, PLAINLY);
  const { metadata } = placeSchema.safeParse(document).data ?? {};
  const errors = [
    ...(parsed.error ? fieldErrorsOf(parsed.error) : []),
    ...elsewhere('/metadata/namespace', metadata?.namespace, namespace),
  ];
  return parsed.data && errors.length === 0 ? parsed.data : errors;
}
