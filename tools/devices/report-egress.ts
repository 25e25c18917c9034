import { z } from 'zod';
import { listOf } from '../../core/base/list.ts';
import { UPDATE } from '../../core/base/operation.ts';
import { lineOfText } from '../../core/base/text.ts';
import { reportEgress as report } from '../../core/enrolment/report-egress.ts';
import { defineOperation } from '../define.ts';

/** Kinds of attempts in one report, and characters of a destination. */
const MAX_USES = 16;
const MAX_DESTINATION = 260;

export const reportEgress = defineOperation({
  name: 'report_egress',
  title: 'Report egress of a sandbox',
  description:
    'Says what isolates the sandbox of an agent, and what it reached outside of the network, or tried to. Both are shown among the calls of the agent.',
  input: z.strictObject({
    uses: listOf(
      z.strictObject({
        destination: lineOfText(MAX_DESTINATION).min(1).describe('Such as api.example.com:443'),
        outcome: z.enum(['opened', 'refused', 'failed']),
        count: z.int().min(1).max(1_000_000),
      }),
      MAX_USES,
    ),
    isolation: lineOfText(MAX_DESTINATION)
      .min(1)
      .optional()
      .describe('What isolates the sandbox, such as network and mount namespaces'),
  }),
  output: z.strictObject({ reported: z.int() }),
  access: 'device',
  workspace: 'scoped',
  edition: 'community',
  effects: { ...UPDATE, destructiveHint: false, idempotentHint: false },
  problems: ['invalid_input', 'not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/devices/self/egress' },
  async run({ uses, isolation }, context) {
    await report(context, uses, isolation);
    return { reported: uses.length };
  },
});
