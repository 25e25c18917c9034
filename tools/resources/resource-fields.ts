import { z } from 'zod';
import { ignoredField } from '../../core/base/ignored-field.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { annotationsSchema, nameSchema } from '../../core/changes/manifest.ts';
import { labelsSchema } from '../../core/model/labels.ts';

/** A resource in a request: as fields, as a custom resource object, or as YAML in `manifest`. */
export const resourceFields = {
  name: nameSchema.optional(),
  labels: labelsSchema.optional(),
  annotations: annotationsSchema.optional(),
  apiVersion: lineOfText(TEXT_LIMITS.name).optional().describe('Of a custom resource object'),
  kind: lineOfText(TEXT_LIMITS.name).optional(),
  metadata: z.unknown().optional(),
  status: ignoredField,
  manifest: z
    .string()
    .max(TEXT_LIMITS.manifest)
    .optional()
    .describe('The resource as YAML; also by Content-Type: application/yaml'),
};

export const ttlField = lineOfText(TEXT_LIMITS.duration)
  .optional()
  .describe('Instead of spec.expiresAt: a duration such as 2h, after which the policy is deleted');

export const idField = lineOfText(TEXT_LIMITS.reference).min(1).describe('Id or name');

export const deletedAnswer = z.strictObject({ deleted: z.string().describe('Name of what is gone') });
