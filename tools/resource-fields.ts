import { z } from 'zod';
import { labelsSchema } from '../core/network/labels.ts';
import { annotationsSchema, nameSchema } from '../core/network/manifest.ts';

/** A resource in a request: as fields, as a custom resource object, or as YAML in `manifest`. */
export const resourceFields = {
  name: nameSchema.optional(),
  labels: labelsSchema.optional(),
  annotations: annotationsSchema.optional(),
  apiVersion: z.string().optional().describe('Of a custom resource object'),
  kind: z.string().optional(),
  metadata: z.unknown().optional(),
  status: z.unknown().optional().describe('Ignored'),
  manifest: z.string().optional().describe('The resource as YAML; also by Content-Type: application/yaml'),
};

export const ttlField = z
  .string()
  .max(64)
  .optional()
  .describe('Instead of spec.expiresAt: a duration such as 2h, after which the policy is deleted');

export const idField = z.string().min(1).max(128).describe('Id or name');

export const deletedAnswer = z.strictObject({ deleted: z.string().describe('Name of what is gone') });
