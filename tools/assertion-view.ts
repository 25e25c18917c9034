import { z } from 'zod';
import { type AssertionRecord, type AssertionSpec, assertionFields } from '../core/assertions/assertion.ts';
import type { Flaw } from '../core/assertions/check.ts';
import { formatInstant } from '../core/time.ts';

/** An assertion as answers show it. */
export const assertionView = z.strictObject({
  id: z.string(),
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
  spec: z.strictObject(assertionFields),
  createdAt: z.string(),
  generation: z.int(),
  revision: z.int(),
  status: z.strictObject({
    holds: z.boolean().describe('Whether it is true of the network now; only what holds can be broken'),
    detail: z.string().nullable().describe('Why it does not hold, shown by one pair of peers'),
  }),
});

export function viewOfAssertion(
  { uid, name, labels, annotations, spec, createdAt, generation, revision }: AssertionRecord,
  check: (spec: AssertionSpec) => Flaw | undefined,
): z.input<typeof assertionView> {
  const flaw = check(spec);
  return {
    id: uid,
    name,
    labels,
    annotations,
    spec,
    createdAt: formatInstant(createdAt),
    generation,
    revision,
    status: { holds: flaw === undefined, detail: flaw?.detail ?? null },
  };
}
