import type { FieldFault } from '../../api/problem.ts';
import type { Order } from '../../api/types.ts';
import { instantOf, instantOfLocal, localText } from '../../time/moment.ts';

/** An order as it is edited: the words of each field, also where some are missing. */
export interface OrderRow {
  /** Tells a row from the others of the page. */
  readonly key: number;
  /** Empty where a draft leaves it out, until it is chosen. */
  readonly do: Order['do'] | '';
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly except_from: readonly string[];
  readonly except_to: readonly string[];
  readonly ports: readonly string[];
  /** DENY policies in which an allow makes a hole. */
  readonly through: readonly string[];
  /** A time; empty for an order that begins at once. */
  readonly starts: string;
  /** A duration or a time; empty for an order that stays. */
  readonly end: string;
  readonly side: 'to' | 'from';
  readonly isBothWays: boolean;
}

/** Fields of a row with a list of words. */
export const WORD_FIELDS = ['from', 'to', 'except_from', 'except_to', 'ports', 'through'] as const;
export type WordField = (typeof WORD_FIELDS)[number];

let keys = 0;

/**
 * Returns an order, also one with unknown parts, as a row.
 *
 * @param timeZone of the workspace, by whose clocks instants are edited; as they are unless it is known
 */
export function rowOf(order: Partial<Order> = {}, timeZone?: string): OrderRow {
  keys += 1;
  return {
    key: keys,
    do: order.do ?? (order.from ? '' : 'allow'),
    from: order.from ?? [],
    to: order.to ?? [],
    except_from: order.except_from ?? [],
    except_to: order.except_to ?? [],
    ports: order.ports ?? [],
    through: order.through ?? [],
    starts: editedTime(order.starts, timeZone),
    end: order.for ?? editedTime(order.until, timeZone),
    side: order.side ?? 'to',
    isBothWays: order.both_ways ?? false,
  };
}

/** Returns an instant by the clocks of a zone, where they show that time once; any other text as it is. */
function editedTime(text = '', timeZone?: string): string {
  const at = text.endsWith('Z') ? instantOf(text) : undefined;
  if (at === undefined || timeZone === undefined) return text;
  const wall = localText(at, timeZone);
  if (instantOfLocal(wall, timeZone) !== at) return text;
  return wall.endsWith(':00') ? wall.slice(0, -':00'.length) : wall;
}

/** Returns the instant that is typed, where it can be read: by the clocks of the zone unless it names its own. */
export function typedTime(text: string, timeZone: string): string | undefined {
  const trimmed = text.trim();
  return trimmed.includes('T') ? (instantOfLocal(trimmed, timeZone) ?? instantOf(trimmed)) : undefined;
}

/** Returns a row as the order that is sent; nothing is missing in it ({@link missingIn}). */
export function orderOf({ do: verb, from, to, ports, starts, end, side, isBothWays, ...row }: OrderRow): Order {
  const time = end.trim();
  return {
    do: verb as Order['do'],
    from: [...from],
    to: [...to],
    ...(row.except_from.length > 0 && { except_from: [...row.except_from] }),
    ...(row.except_to.length > 0 && { except_to: [...row.except_to] }),
    ...(ports.length > 0 && { ports: [...ports] }),
    ...(verb === 'allow' && row.through.length > 0 && { through: [...row.through] }),
    ...(verb === 'only' && side === 'from' && { side }),
    ...(verb !== 'only' && isBothWays && { both_ways: true }),
    ...(verb !== 'remove' && starts.trim() !== '' && { starts: starts.trim() }),
    ...(verb !== 'remove' && time !== '' && (/^\d{4}-/.test(time) ? { until: time } : { for: time })),
  };
}

/** What the field of the end takes too: an end that is no time is sent as a duration. */
const TIME_FORM = 'A time is written 2030-01-31T18:00.';

/** Faults of one row by the name of the field; those of the row itself stand under its first field. */
export type RowFaults = Readonly<Record<string, readonly string[]>>;

/** Returns why a row cannot be sent yet. */
export function missingIn({ do: verb, from, to }: OrderRow): RowFaults {
  const missing = 'Name at least one.';
  return {
    ...(verb === '' && { do: ['Choose an action.'] }),
    ...(from.length === 0 && { from: [missing] }),
    ...(to.length === 0 && { to: [missing] }),
  };
}

/** Returns the faults of a refusal by row: `/orders/1/from/0` is of the second. */
export function faultsByRow(errors: readonly FieldFault[]): ReadonlyMap<number, RowFaults> {
  const rows = new Map<number, Record<string, string[]>>();
  for (const { pointer, detail } of errors) {
    const [, place, field = 'from'] = /^\/orders\/(\d+)(?:\/([a-z_]+))?/.exec(pointer) ?? [];
    if (place === undefined) continue;
    const faults = rows.get(Number(place)) ?? {};
    const name = field === 'for' || field === 'until' ? 'end' : field;
    const text = field === 'for' ? `${detail} ${TIME_FORM}` : detail;
    rows.set(Number(place), { ...faults, [name]: [...(faults[name] ?? []), text] });
  }
  return rows;
}
