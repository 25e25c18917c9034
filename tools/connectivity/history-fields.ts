import { z } from 'zod';
import { invalidInput } from '../../core/base/errors.ts';
import type { CallContext } from '../../core/base/operation.ts';
import { schemaNames } from '../../core/base/schema-names.ts';
import { connectionHistory } from '../../core/history/pair/connection-history.ts';
import { exposureHistory } from '../../core/history/pair/exposure.ts';
import type { ComputeServices } from '../../core/intent/plan/services.ts';
import { isGroupTerm } from '../../core/state/find-peer.ts';
import { causeSchema, changeSchema } from '../snapshots/commit-fields.ts';
import { instant } from '../snapshots/snapshot-fields.ts';
import { allowedPorts, type groupQuery, withProtocol } from './connectivity-fields.ts';

export const rangeFields = {
  from: instant.optional().describe('Of a range'),
  to: instant.optional().describe('None: now'),
};

const span = { from: z.string(), to: z.string() };
const page = {
  src: z.string().nullable(),
  dst: z.string().nullable(),
  range: z.strictObject({
    ...span,
    known_since: z.string(),
    gap: z.string().nullable(),
    note: z.string().optional(),
  }),
  count: z.int(),
  note: z.string().optional().describe('Of addresses outside'),
  next_cursor: z.string().optional(),
};

const timelineAnswer = z.strictObject({
  ...page,
  intervals: z.array(
    z.strictObject({
      ...span,
      verdict: z.string(),
      allowed: allowedPorts,
      usable: z.boolean(),
      causes: z.array(causeSchema),
      change: changeSchema.nullable(),
    }),
  ),
});

const exposureAnswer = z.strictObject({
  ...page,
  intervals: z.array(
    z.strictObject({
      ...span,
      verdict: z.string(),
      reach: z.array(z.strictObject({ peers: z.array(z.string()), peer_count: z.int(), allowed: allowedPorts })),
      outside: z.array(z.strictObject({ addresses: z.array(z.string()).readonly(), allowed: allowedPorts })).nullable(),
      causes: z.array(causeSchema),
      change: changeSchema.nullable(),
    }),
  ),
});

timelineAnswer.register(schemaNames, { name: 'ConnectivityTimeline' });
exposureAnswer.register(schemaNames, { name: 'PeerExposure' });

export const historyAnswer = z.union([timelineAnswer, exposureAnswer]);

type Query = z.output<z.ZodObject<typeof groupQuery>> & {
  readonly from: string;
  readonly to?: string | undefined;
  readonly limit: number;
};

/** How a pair was over a range; with one end left out, who reached the other end. */
export async function answerHistory(query: Query, { services, workspace }: CallContext<ComputeServices>) {
  const { src, dst, ...asked } = withProtocol(query);
  for (const [field, given] of Object.entries({ src, dst })) {
    if (given !== undefined && isGroupTerm(given)) {
      throw refused(
        field,
        'Over a range one peer is needed here, by its name, id or address; find_cause takes labels.',
      );
    }
  }
  if (src !== undefined && dst !== undefined) return connectionHistory(services, workspace, { ...asked, src, dst });
  const peer = dst ?? src;
  if (peer === undefined) throw refused('src', 'Name src or dst, or both: over a range the history of a peer is told.');
  if (asked.protocol !== undefined) throw refused('protocol', 'Ports are asked about for a pair: name src and dst.');
  return exposureHistory(services, workspace, {
    ...asked,
    peer,
    direction: dst === undefined ? 'outbound' : 'inbound',
  });
}

function refused(field: string, detail: string) {
  return invalidInput([{ pointer: `/${field}`, detail }], `/${field}: ${detail}`);
}
