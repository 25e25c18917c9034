import { z } from 'zod';
import { MeshError } from '../../core/base/errors.ts';
import { type CallContext, READ } from '../../core/base/operation.ts';
import { formatInstant } from '../../core/base/time.ts';
import { exportPage, fileResourceSchema } from '../../core/history/export.ts';
import { tokensOf } from '../../core/identity/token-lists.ts';
import type { ComputeServices } from '../../core/intent/plan/services.ts';
import { isWorkloadRule } from '../../core/model/token-record.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { defineHeavyOperation } from '../define.ts';
import { pageQuery } from '../page.ts';
import { isAboutPast, pastFields, stateFor } from '../past.ts';
import { SNAPSHOT_PAGE } from '../snapshots/get-snapshot.ts';

export const exportResources = defineHeavyOperation({
  name: 'export_resources',
  title: 'Export the resources as files hold them',
  description:
    'Networks, peers, policies and, with tokens:write, the present rules for workloads as documents that apply takes, also of another workspace: peers by name, no ids, no secrets. What agents made is left out.',
  input: z.strictObject({ cursor: pageQuery.cursor, ...pastFields }),
  output: z.strictObject({
    at: z.string().describe('The network was so then'),
    revision: z.int(),
    resources: z.array(fileResourceSchema).describe('Networks, peers, policies, rules; each kind by name'),
    left_out: z
      .array(z.strictObject({ kind: z.string(), why: z.string(), count: z.int(), names: z.array(z.string()) }))
      .optional()
      .describe('What is not carried, or means something else elsewhere; the first names of each'),
    next_cursor: z.string().optional(),
  }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  proWhen: isAboutPast,
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/export', joinsPages: true },
  async run({ cursor, ...query }, context) {
    const { services, caller, face } = context;
    const rules = isAboutPast(query) ? undefined : await workloadRules(context);
    const begun = cursor === undefined ? undefined : positionOf(cursor);
    const { state, at } = await stateOf(context, query, begun);
    const { resources, leftOut, next } = exportPage(state, {
      by: caller.id,
      at: Math.min(at, services.clock.now()),
      after: begun?.after,
      maxCharacters: SNAPSHOT_PAGE[face],
      rules,
    });
    return {
      at: formatInstant(at),
      revision: state.revision,
      resources,
      ...(leftOut && { left_out: leftOut }),
      ...(next !== undefined && { next_cursor: `${state.revision}.${at}.${next}` }),
    };
  },
});

async function workloadRules({ services, workspace, caller }: CallContext<ComputeServices>) {
  if (!caller.scopesIn(workspace).has('tokens:write')) return undefined;
  const tokens = (await tokensOf(services, workspace, 'join')).filter(isWorkloadRule);
  return new Map(tokens.map((token) => [token.name, token]));
}

/** An export of the present goes on with the network as it was when it began, for so long. */
const GOES_ON_MS = 60_000;

interface ExportCursor {
  readonly revision: number;
  readonly at: number;
  readonly after: string;
}

const CURSOR = /^(?<revision>\d{1,15})\.(?<at>\d{1,15})\.(?<after>.*)$/;

/** Parses a cursor. An invalid one is passed on as `after`, whose reader refuses it. */
function positionOf(cursor: string): ExportCursor {
  const { revision, at, after = cursor } = CURSOR.exec(cursor)?.groups ?? {};
  return { revision: Number(revision ?? 0), at: Number(at ?? 0), after };
}

async function stateOf(
  context: CallContext<ComputeServices>,
  query: Parameters<typeof stateFor>[1],
  begun: ExportCursor | undefined,
): Promise<{ readonly state: NetworkState; readonly at: number }> {
  const { services, workspace } = context;
  const found = await stateFor(context, query);
  if (!begun) return found;
  const { state, at, isPast } = found;
  if (begun.revision === state.revision) return { state, at: isPast ? at : begun.at };
  // A cursor is no way to the past.
  const since = await services.store.revisionAt(workspace, services.clock.now() - GOES_ON_MS);
  if (isPast || begun.revision > state.revision || begun.revision < (since?.revision ?? 0)) {
    throw new MeshError('expired', 'The network has changed since this export began: begin it again.');
  }
  return { state: await services.states.asOf(workspace, { revision: begun.revision }), at: begun.at };
}
