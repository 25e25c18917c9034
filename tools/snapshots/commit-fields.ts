import { z } from 'zod';
import { jsonValue } from '../../core/base/json-value.ts';
import { CAUSES } from '../../core/history/pair/causes.ts';
import { allowedSchema, verdictSchema } from '../../core/reachability/answers.ts';

/** A commit that changed the network (core/history/blame.ts). */
export const commitSchema = z.strictObject({
  revision: z.int(),
  at: z.string(),
  actor: z.string(),
  reason: z.string(),
  workflow_id: z.string().nullable(),
  reviewed_by: z.string().nullable(),
  resources: z.array(z.string()).describe('As `created MeshPolicy/web-to-db`'),
});

/** The same with the first snapshot that has it. */
export const changeSchema = commitSchema.extend({ snapshot_id: z.string().nullable() });

/** A record that changed a connection, or whose time was over. */
export const causeSchema = z.strictObject({ cause: z.enum(CAUSES), kind: z.string(), name: z.string() });

/** A place of a custom resource that differs, as an RFC 6901 pointer; without values where these are long. */
export const changedPathSchema = z.strictObject({
  path: z.string(),
  old: jsonValue.optional(),
  new: jsonValue.optional(),
});

/** The state of a connection as long as it does not change. */
export const readingSchema = z.strictObject({ verdict: verdictSchema, allowed: allowedSchema, usable: z.boolean() });
