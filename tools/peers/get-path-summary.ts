import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { pathCounts } from '../../core/peers/path-counts.ts';
import { groupedBy, groupingFields, groupKind } from '../connectivity/label-group-fields.ts';
import { defineOperation } from '../define.ts';

/** As many as get_connectivity_summary shows. */
const MAX_COUNTS = 2_000;

export const getPathSummary = defineOperation({
  name: 'get_path_summary',
  title: 'Count the paths between groups of peers',
  description:
    'How many pairs of peers reach each other directly or by a relay, as their devices reported it last, by groups as get_connectivity_summary has them.',
  input: z.strictObject(groupingFields),
  output: z.strictObject({
    by: z.string().nullable(),
    groups: z.array(z.strictObject({ kind: groupKind, name: z.string() })),
    paths: z.array(
      z.strictObject({
        a: z.int().describe('Place in groups'),
        b: z.int(),
        direct: z.int().describe('Pairs, in either direction'),
        relayed: z.int(),
        failed: z.int(),
      }),
    ),
    omitted_paths: z.int(),
  }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/paths' },
  async run(query, { services, workspace }) {
    const state = await services.states.current(workspace);
    const { by, groups } = groupedBy(state, query);
    const size = ({ direct, relayed, failed }: { direct: number; relayed: number; failed: number }) =>
      direct + relayed + failed;
    const counts = pathCounts(state, groups, services.paths).sort((x, y) => size(y) - size(x));
    return {
      by,
      groups: groups.map(({ kind, name }) => ({ kind, name })),
      paths: counts.slice(0, MAX_COUNTS),
      omitted_paths: Math.max(0, counts.length - MAX_COUNTS),
    };
  },
});
