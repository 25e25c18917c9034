import type { Command } from 'commander';
import { z } from 'zod';
import { type Answer, answering } from './answer.ts';
import { MOMENT_FORMS, momentOf } from './moments.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { table } from './table.ts';
import { withTarget } from './target.ts';
import { callInWorkspace } from './workspace.ts';

interface HistoryOptions extends TargetOptions {
  readonly from: string;
  readonly to?: string;
  readonly protocol?: string;
  readonly port?: string;
}

const allowedSchema = z.union([
  z.literal('ALL'),
  z.array(z.object({ protocol: z.string(), from: z.int().optional(), to: z.int().optional() })),
]);
const pageSchema = z.looseObject({
  range: z.looseObject({ known_since: z.string(), gap: z.string().nullable() }),
  note: z.string().optional(),
  intervals: z.array(
    z.looseObject({
      from: z.string(),
      to: z.string(),
      verdict: z.string(),
      allowed: allowedSchema,
      usable: z.boolean(),
      causes: z.array(z.object({ cause: z.string(), kind: z.string(), name: z.string() })),
      change: z
        .looseObject({
          revision: z.int(),
          actor: z.string(),
          reviewed_by: z.string().nullable(),
          resources: z.array(z.string()),
        })
        .nullable(),
    }),
  ),
  next_cursor: z.string().optional(),
});
type Page = z.infer<typeof pageSchema>;
type HistoryHead = Pick<Page, 'range' | 'note'>;
type Interval = Page['intervals'][number];

const DEFAULT_RANGE = '7d';

/** `mesh history SRC DST`: how a connection was over a range, and what changed it. */
export function defineHistory(command: Command): void {
  answering(
    withTarget(command)
      .argument('<from>', 'peer that opens the connection: name, id or address')
      .argument('<to>', 'peer it is opened to')
      .option('--from <moment>', `begin of the range: ${MOMENT_FORMS}`, DEFAULT_RANGE)
      .option('--to <moment>', 'end of the range, likewise (now)')
      .option('--protocol <protocol>', 'TCP, UDP, SCTP or ICMP')
      .option('--port <port>', 'port of the connection'),
    history,
  );
}

async function history(src: string, dst: string, options: HistoryOptions): Promise<Answer> {
  const { from, to, protocol, port } = options;
  const query = new URLSearchParams({ src, dst, from: momentOf(from, '--from'), limit: '200' });
  if (to) query.set('to', momentOf(to, '--to'));
  if (protocol) query.set('protocol', protocol.toUpperCase());
  if (port) query.set('port', port);
  const intervals: Interval[] = [];
  let first: Page | undefined;
  let cursor: string | undefined;
  do {
    if (cursor !== undefined) query.set('cursor', cursor);
    const path = `/api/v1/connectivity/history?${query}`;
    const page: Page = pageSchema.parse(await callInWorkspace(targetOf(options), { method: 'get', path }));
    first ??= page;
    intervals.push(...page.intervals);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  const { next_cursor: _, ...whole } = first;
  const rows = intervals.map((one) => rowOf(one, whole));
  const text = rows.length === 0 ? 'none' : table(rows, COLUMNS).split('\n');
  return { value: { ...whole, intervals }, text };
}

const COLUMNS = { From: 'from', To: 'to', Connection: 'connection', Because: 'because' } as const;

/** @param page says whether an end is outside, of which no presence is known */
function rowOf({ from, to, verdict, allowed, usable, causes, change }: Interval, { range, note }: HistoryHead) {
  if (verdict === 'undetermined') return { from, to, connection: verdict, because: gapText(range) };
  const ports = verdict === 'partial' && allowed !== 'ALL' ? ` (${allowed.map(portText).join(', ')})` : '';
  const isOffline = !usable && verdict !== 'unreachable' && note === undefined;
  const why = causes.map(({ cause, kind, name }) => `${cause} ${kind}/${name}${didText(`${kind}/${name}`, change)}`);
  const approved = change?.reviewed_by ? `, approved by ${change.reviewed_by}` : '';
  const who = change ? ` in revision ${change.revision} by ${change.actor}${approved}` : '';
  const because = why.length === 0 ? '' : `${why.join(', ')}${who}`;
  return { from, to, connection: `${verdict}${ports}${isOffline ? ', not both online' : ''}`, because };
}

/** ` created`, ` updated` or ` deleted`, where a commit did it. */
function didText(resource: string, change: Interval['change']): string {
  const text = change?.resources.find((one) => one.endsWith(` ${resource}`));
  return text === undefined ? '' : ` ${text.slice(0, text.indexOf(' '))}`;
}

function gapText({ gap, known_since: since }: HistoryHead['range']): string {
  return gap === 'SNAPSHOT_GAP' ? `history is kept since ${since}` : `history begins at ${since}`;
}

function portText({ protocol, from, to }: { protocol: string; from?: number | undefined; to?: number | undefined }) {
  if (from === undefined) return protocol;
  return to === undefined || to === from ? `${protocol} ${from}` : `${protocol} ${from}-${to}`;
}
