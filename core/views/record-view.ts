import { z } from 'zod';
import type { StoredRecord } from '../base/record.ts';
import { formatInstant } from '../base/time.ts';

/** A record as answers show it, with the status that is computed for them. */
export function recordSchema<Spec extends z.ZodType, Status extends z.ZodType>(spec: Spec, status: Status) {
  return z.strictObject({
    id: z.string(),
    name: z.string(),
    labels: z.record(z.string(), z.string()),
    annotations: z.record(z.string(), z.string()),
    spec,
    createdAt: z.string(),
    generation: z.int(),
    revision: z.int(),
    status,
  });
}

type ViewedRecord = Pick<
  StoredRecord,
  'uid' | 'name' | 'labels' | 'annotations' | 'createdAt' | 'generation' | 'revision'
>;

/** Returns a record in the form of {@link recordSchema}. */
export function recordView<Spec, Status>(record: ViewedRecord & { readonly spec: Spec }, status: Status) {
  const { uid, name, labels, annotations, spec, createdAt, generation, revision } = record;
  return {
    id: uid,
    name,
    labels,
    annotations,
    spec,
    createdAt: formatInstant(createdAt),
    generation,
    revision,
    status,
  };
}
