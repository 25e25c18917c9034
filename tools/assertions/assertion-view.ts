import { z } from 'zod';
import { type AssertionRecord, type AssertionSpec, assertionFields } from '../../core/assertions/assertion.ts';
import type { Flaw } from '../../core/assertions/check.ts';
import { recordSchema, recordView } from '../../core/views/record-view.ts';

/** An assertion as answers show it. */
export const assertionSchema = recordSchema(
  z.strictObject(assertionFields),
  z.strictObject({
    holds: z.boolean().describe('Whether it is true of the network now; only what holds can be broken'),
    detail: z.string().nullable().describe('Why it does not hold, shown by one pair of peers'),
  }),
);

export function assertionView(
  assertion: AssertionRecord,
  check: (spec: AssertionSpec) => Flaw | undefined,
): z.input<typeof assertionSchema> {
  const flaw = check(assertion.spec);
  return recordView(assertion, { holds: flaw === undefined, detail: flaw?.detail ?? null });
}
