import { invalidInput } from '../../base/errors.ts';
import { formatInstant } from '../../base/time.ts';
import type { Protocol } from '../../model/policy.ts';
import type { HistoryServices } from '../../state/services.ts';
import { changeView, commitOf } from '../commits-between.ts';
import { bothOutside } from '../connectivity.ts';
import { pairHistory } from './flips.ts';
import { endOfPair } from './identity.ts';
import { pairRecords } from './pair-records.ts';
import { cutText, type Range, rangeOf } from './range.ts';
import { type Interval, intervalsOf, readingView } from './timeline.ts';

export interface ConnectionHistoryQuestion {
  readonly src: string;
  readonly dst: string;
  readonly protocol?: Protocol | undefined;
  readonly port?: number | undefined;
  readonly from: string;
  readonly to?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/**
 * How a connection was over a range, in intervals that cover it exactly, and what began each. Later pages are of the same
 * range: the cursor keeps its end, where none was given or one that was to come.
 *
 * @throws MeshError as `rangeOf` and `identityOf` do; `invalid_input` for a cursor that is none
 */
export async function connectionHistory(
  services: HistoryServices,
  workspace: string,
  asked: ConnectionHistoryQuestion,
) {
  const { cursor, limit } = asked;
  const position = positionOf(cursor);
  const to = position ? formatInstant(position.to) : asked.to;
  const range = await rangeOf(services, workspace, { from: asked.from, to });
  const [src, dst] = await Promise.all([
    endOfPair(services, workspace, asked.src, range),
    endOfPair(services, workspace, asked.dst, range),
  ]);
  if (src.ranges && dst.ranges) throw bothOutside();
  const question = { src, dst, protocol: asked.protocol, port: asked.port };
  const records = await pairRecords(services, workspace, question, range);
  const all = intervalsOf(pairHistory(records, range.since, question), range);
  const begin = position?.index ?? 0;
  const shown = all.slice(begin, begin + limit);
  return {
    src: src.name,
    dst: dst.name,
    range: rangeView(range),
    ...((src.ranges || dst.ranges) && { note: 'Whether an address outside is there is not known: usable is false.' }),
    count: all.length,
    intervals: await Promise.all(shown.map((interval) => intervalView(services, workspace, interval))),
    ...(begin + limit < all.length && { next_cursor: `${range.to}.${begin + limit}` }),
  };
}

export function rangeView(range: Range) {
  const { from, to, keptFrom, gap } = range;
  const cut = cutText(range);
  return {
    from: formatInstant(from),
    to: formatInstant(to),
    /** Before it nothing is known: history begins there, or is kept since then. */
    known_since: formatInstant(keptFrom),
    gap: gap ?? null,
    ...(cut !== undefined && { note: `Of the range: ${cut}.` }),
  };
}

async function intervalView(services: HistoryServices, workspace: string, { from, to, moment, causes }: Interval) {
  const when = { from: formatInstant(from), to: formatInstant(to) };
  if (!moment) {
    return {
      ...when,
      verdict: 'undetermined' as const,
      allowed: [],
      usable: false,
      causes: [],
      change: null,
    };
  }
  const commit = causes.length > 0 ? await commitOf(services, workspace, moment) : undefined;
  const change = commit ? await changeView(services, commit) : null;
  return { ...when, ...readingView(moment.reading), causes: [...causes], change };
}

const CURSOR = /^(?<to>\d{1,15})\.(?<index>\d{1,9})$/;

export function positionOf(cursor: string | undefined): { readonly to: number; readonly index: number } | undefined {
  if (cursor === undefined) return undefined;
  const { to, index } = CURSOR.exec(cursor)?.groups ?? {};
  if (to !== undefined && index !== undefined) return { to: Number(to), index: Number(index) };
  const detail = 'The cursor is of another question: send next_cursor of the page before, or leave it out.';
  throw invalidInput([{ pointer: '/cursor', detail }], `/cursor: ${detail}`);
}
