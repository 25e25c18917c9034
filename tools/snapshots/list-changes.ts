import { z } from 'zod';
import { ACTOR_FIELD } from '../../core/base/actor.ts';
import { READ } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { formatInstant } from '../../core/base/time.ts';
import { changeList, MAX_INSTANTS } from '../../core/history/change-list.ts';
import { rangeNote, rangeOf } from '../../core/history/pair/range.ts';
import { defineHeavyOperation } from '../define.ts';
import { instant } from './snapshot-fields.ts';

/** Changes of one page: each is compared with the moment before it. */
const MAX_CHANGES = 50;

const kind = z.enum(['MeshPeer', 'MeshPolicy', 'MeshNetwork', 'AgentIdentity']);
const count = z.int();
/** Kinds of connections on each side that are named. */
const rows = z.array(z.strictObject({ from: z.string(), to: z.string(), ports: z.string(), pairs: count })).max(3);

export const listChanges = defineHeavyOperation({
  name: 'list_changes',
  title: 'List changes of the network',
  description:
    'What changed the network in a range, newest first: who, why, with which approval, and what that change alone opened and closed.',
  input: z.strictObject({
    from: instant,
    to: instant.optional().describe('None: now'),
    kind: kind.optional(),
    name: lineOfText(TEXT_LIMITS.reference).optional().describe('Name of a changed record'),
    actor: lineOfText(TEXT_LIMITS.reference).optional().describe(ACTOR_FIELD),
    peer: lineOfText(TEXT_LIMITS.reference)
      .optional()
      .describe('Peer: what changed it, whom it reaches or who reaches it; effects are of it alone'),
    cursor: lineOfText(TEXT_LIMITS.cursor)
      .regex(/^\d{1,9}$/, { error: 'The next_cursor of the page before.' })
      .optional()
      .describe('next_cursor'),
    limit: z.coerce.number().int().min(1).max(MAX_CHANGES).default(20),
  }),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        at: z.string(),
        revision: count.nullable().describe('null: the time of something was over'),
        actor: z.string().nullable(),
        reason: z.string().nullable(),
        workflow_id: z.string().nullable(),
        reviewed_by: z.string().nullable(),
        resources: z.array(
          z.strictObject({ type: z.enum(['created', 'updated', 'deleted', 'ended']), kind, name: z.string() }),
        ),
        effect: z
          .strictObject({
            opened_pairs: count.describe('Pairs of peers'),
            closed_pairs: count,
            opened_outside: count.describe('Pairs of a peer and a CIDR or outside'),
            closed_outside: count,
            outside_compared: z.boolean(),
            opened: rows.describe('The largest first'),
            closed: rows,
            omitted: count.describe('Rows left out of both'),
          })
          .nullable(),
      }),
    ),
    total: count.describe('In the whole range'),
    instants: z
      .array(z.string())
      .max(MAX_INSTANTS)
      .describe('When the network changed, newest first, of all pages: of the first page alone'),
    from: z.string(),
    to: z.string().describe('Now, where the range was asked to end later'),
    known_since: z.string().optional().describe('Where the range begins before anything is known'),
    note: z.string().optional().describe('Where the range is cut, and why'),
    next_cursor: z.string().optional(),
  }),
  columns: { At: 'at', Revision: 'revision', By: 'actor', Approved: 'reviewed_by', Reason: 'reason' },
  access: 'snapshots:read',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired', 'payload_too_large'],
  http: { method: 'get', path: '/api/v1/changes' },
  async run({ from, to, cursor, limit, ...filter }, { services, workspace }) {
    const range = await rangeOf(services, workspace, { from, to, mayPrecede: true });
    const before = cursor === undefined ? undefined : Number(cursor);
    const found = await changeList(services, workspace, range, { filter, left: before, limit });
    const { items, total, instants, left, readSince } = found;
    const notes = [await rangeNote(services, workspace, range), readSince !== undefined && unreadNote(readSince)];
    const note = notes.filter(Boolean).join(' ');
    return {
      items,
      total,
      instants: before === undefined ? instants : [],
      from: formatInstant(range.from),
      to: formatInstant(range.to),
      ...(range.gap && { known_since: formatInstant(range.keptFrom) }),
      ...(note !== '' && { note }),
      ...(left > 0 && { next_cursor: String(left) }),
    };
  },
});

function unreadNote(since: number): string {
  return `Of the range: only what changed since ${formatInstant(since)} was looked at. Ask about an earlier range for more.`;
}
