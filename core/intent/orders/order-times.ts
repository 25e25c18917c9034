import { parseDuration } from '../../base/duration.ts';
import type { FieldError } from '../../base/errors.ts';
import { formatInstant, parseInstant } from '../../base/time.ts';
import { instantOfWall, zonedText } from '../../base/time-zone.ts';
import { BEGIN_SLACK_MS } from '../../state/begins.ts';
import type { OrderInput } from './order.ts';

/** The moment and place in which the times of orders are read. */
export interface Clocks {
  /** ms */
  readonly now: number;
  readonly timeZone: string;
}

/** Furthest end of an order. */
const MAX_AHEAD_MS = 100 * 365 * 86_400_000;
/** A begin may be written in whole minutes, ms. */
const PASSED_SLACK_MS = 60_000;
const WALL = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(Z|[+-]\d\d:\d\d)?$/;

/** Returns when an order ends, ms; undefined without an end, and after adding an error. */
export function endOfOrder(
  input: OrderInput,
  at: string,
  startsAt: number | undefined,
  clocks: Clocks,
  errors: FieldError[],
): number | undefined {
  const begin = startsAt ?? clocks.now;
  if (input.for !== undefined && input.until !== undefined) {
    errors.push({ pointer: `${at}/until`, detail: 'Give for or until, not both.' });
    return undefined;
  }
  if (input.for !== undefined) {
    const duration = parseDuration(input.for);
    if (duration !== undefined && duration <= MAX_AHEAD_MS) return begin + duration;
    errors.push({ pointer: `${at}/for`, detail: 'A duration is written 30m, 2h, 1h30m or 7d, at most 100 years.' });
  }
  if (input.until === undefined) return undefined;
  const end = instantOf(input.until, `${at}/until`, clocks, errors);
  if (end === undefined || end > begin) return end;
  const detail =
    end <= clocks.now
      ? `${passedText(input.until, clocks)}. Name a later end.`
      : `The order would end before it begins (${input.starts}): name a later end, or an earlier begin.`;
  errors.push({ pointer: `${at}/until`, detail });
  return undefined;
}

/** Returns when an order begins, ms; undefined for now, and after adding an error. */
export function beginOfOrder(
  { starts }: OrderInput,
  at: string,
  clocks: Clocks,
  errors: FieldError[],
): number | undefined {
  if (starts === undefined) return undefined;
  const begin = instantOf(starts, `${at}/starts`, clocks, errors);
  if (begin === undefined || begin > clocks.now + BEGIN_SLACK_MS) return begin;
  if (begin < clocks.now - PASSED_SLACK_MS) {
    const detail = `${passedText(starts, clocks)}. Leave out starts to begin now, from when for counts then, or name a later begin.`;
    errors.push({ pointer: `${at}/starts`, detail });
  }
  return undefined;
}

function passedText(text: string, { now, timeZone }: Clocks): string {
  return `${text} has passed: it is ${zonedText(now, timeZone)}`;
}

/** Reads a time by the clocks of a workspace, or as answers have it, ms; undefined after adding an error. */
function instantOf(text: string, pointer: string, { now, timeZone }: Clocks, errors: FieldError[]): number | undefined {
  const [, day, time, seconds = ':00', zone] = WALL.exec(text.replace('.000Z', 'Z')) ?? [];
  const wall = parseInstant(`${day}T${time}${seconds}${zone ?? 'Z'}`);
  // The engine takes the 30th of February for the 2nd of March.
  const begin = parseInstant(`${day}T00:00:00Z`);
  const isDay = day !== undefined && !Number.isNaN(begin) && formatInstant(begin).startsWith(day);
  const isFar = wall - now > MAX_AHEAD_MS;
  const instant =
    !isDay || Number.isNaN(wall) ? undefined : zone === undefined && !isFar ? instantOfWall(wall, timeZone) : wall;
  if (instant !== undefined && !isFar) return instant;
  const detail =
    instant === undefined
      ? 'A time is written 2030-01-31T18:00, by the clocks of the workspace, or with Z or +02:00.'
      : `${text} is more than 100 years away: leave it out.`;
  errors.push({ pointer, detail });
  return undefined;
}
