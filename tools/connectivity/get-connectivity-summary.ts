import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { formatInstant } from '../../core/base/time.ts';
import { allowedSchema } from '../../core/reachability/answers.ts';
import { cellsBetween, portsOfCell } from '../../core/reachability/cells.ts';
import { withExternals } from '../../core/reachability/externals.ts';
import { outsideRanges } from '../../core/reachability/outside.ts';
import { defineHeavyOperation } from '../define.ts';
import { isAboutPast, pastFields, stateFor } from '../past.ts';
import { groupedBy, groupingFields, groupKind, onlineIn } from './label-group-fields.ts';

/** Cells shown, those with most pairs first: more lines than that nobody tells apart. */
const MAX_CELLS = 2_000;
/** Ranges of ports of one cell. */
const MAX_PORTS = 16;

const groupSchema = z.strictObject({
  kind: groupKind,
  name: z.string().describe('Value of the label, or name of the peer; empty for the others'),
  peers: z.int().describe('Of outside: ranges of addresses that policies tell apart'),
  online: z.int(),
});

export const getConnectivitySummary = defineHeavyOperation({
  name: 'get_connectivity_summary',
  title: 'Get connectivity between groups of peers',
  description:
    'How many pairs may talk between groups of peers that share a label, and on which ports. Groups and addresses outside between which nothing is open have no cell.',
  input: z.strictObject({ ...groupingFields, ...pastFields }),
  output: z.strictObject({
    at: z.string(),
    revision: z.int(),
    by: z.string().nullable().describe('Label key; null where no peer has a label'),
    keys: z.array(z.strictObject({ key: z.string(), values: z.int(), peers: z.int() })),
    groups: z.array(groupSchema),
    cells: z.array(
      z.strictObject({
        src: z.int().describe('Place in groups'),
        dst: z.int(),
        pairs: z.int().describe('Ordered pairs of different peers'),
        open_pairs: z.int().describe('Those of them that may talk'),
        allowed: allowedSchema.describe('What some of them may use; "ALL", or the first ranges of ports'),
        omitted_ports: z.int(),
        alike: z.boolean().describe('Whether all that may talk may use all of it'),
      }),
    ),
    omitted_groups: z.int().describe('Labels whose peers are in the group of kind rest'),
    omitted_cells: z.int(),
  }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  proWhen: isAboutPast,
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/connectivity/summary' },
  async run(query, context) {
    const { state, at } = await stateFor(context, query);
    const { by, keys, groups, omitted } = groupedBy(state, query);
    const compiled = context.services.states.reachability(state, at);
    const externals = groups.length === 0 ? [] : outsideRanges(compiled);
    const reach = externals.length === 0 ? compiled : withExternals(compiled, externals);
    const outside = externals.length === 0 ? [] : [{ peers: externals.map(({ name }) => name) }];
    const sets = [...groups, ...outside].map(({ peers }) => peers);
    const cells = cellsBetween(reach, sets).sort((a, b) => b.open - a.open || a.src - b.src || a.dst - b.dst);
    const sizeOf = (place: number) => sets[place]?.length ?? 0;
    return {
      at: formatInstant(at),
      revision: state.revision,
      by,
      keys: [...keys],
      groups: [
        ...groups.map((group) => ({
          kind: group.kind,
          name: group.name,
          peers: group.peers.length,
          online: onlineIn(state, group),
        })),
        ...outside.map(({ peers }) => ({ kind: 'outside' as const, name: '', peers: peers.length, online: 0 })),
      ],
      cells: cells.slice(0, MAX_CELLS).map((cell) => {
        const allowed = portsOfCell(reach, cell);
        const isCut = allowed !== 'ALL' && allowed.length > MAX_PORTS;
        return {
          src: cell.src,
          dst: cell.dst,
          pairs: sizeOf(cell.src) * (sizeOf(cell.dst) - (cell.src === cell.dst ? 1 : 0)),
          open_pairs: cell.open,
          allowed: (isCut ? allowed.slice(0, MAX_PORTS) : allowed) as z.input<typeof allowedSchema>,
          omitted_ports: isCut ? allowed.length - MAX_PORTS : 0,
          alike: cell.sets.size === 1,
        };
      }),
      omitted_groups: omitted,
      omitted_cells: Math.max(0, cells.length - MAX_CELLS),
    };
  },
});
