import { z } from 'zod';
import { type AssertionRecord, assertionFields } from '../../core/assertions/assertion.ts';
import type { AssertionVerdict } from '../../core/assertions/manage.ts';
import { recordSchema, recordView } from '../../core/views/record-view.ts';

/** An assertion as answers show it. */
export const assertionSchema = recordSchema(
  z.strictObject(assertionFields),
  z.strictObject({
    holds: z.boolean().describe('Whether it is true of the network now; only what holds can be broken'),
    detail: z
      .string()
      .nullable()
      .describe('Why it does not hold, shown by one pair of peers; or which of its peers left'),
  }),
);

export function assertionView(
  assertion: AssertionRecord,
  check: (record: AssertionRecord) => AssertionVerdict,
): z.input<typeof assertionSchema> {
  return recordView(assertion, check(assertion));
}
