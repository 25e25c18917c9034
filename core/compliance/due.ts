import { formatInstant, parseInstant } from '../base/time.ts';
import { instantOfWall, wallTime } from '../base/time-zone.ts';
import type { Cadence } from '../model/frameworks.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONTHS = 12;
const MONTHS_OF_QUARTER = 3;
/** The hour of a scheduled assessment, in the time zone of the workspace: after the daily snapshot. */
export const ASSESSMENT_HOUR = 3;

/** 1970-01-05, a Monday: wall times are written as if they were UTC. */
const A_MONDAY = 4 * DAY_MS;

/** An assessment that is due, and the period that it is about. Milliseconds. */
export interface DueAssessment {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

interface Rhythm {
  readonly cadence: Cadence;
  /** Days before it that are assessed; undefined: those since the time before. */
  readonly days?: number | undefined;
}

/**
 * The newest assessment that is due at `now`: about the day, week (from Monday), month or quarter that ended at the last
 * midnight on which one ends, by the clocks of a time zone. Due at 03:00; on a day that skips that hour when the clocks jump.
 */
export function lastDue(now: number, rhythm: Rhythm, timeZone: string): DueAssessment {
  for (let start = beginOf(wallTime(now, timeZone), rhythm.cadence); ; start = moved(start, rhythm.cadence, -1)) {
    const due = dueOf(start, rhythm, timeZone);
    if (due.at <= now) return due;
  }
}

/** When the one after it is due. */
export function nextDueAt(now: number, { cadence }: Rhythm, timeZone: string): number {
  for (let start = beginOf(wallTime(now, timeZone), cadence); ; start = moved(start, cadence, 1)) {
    const { at } = dueOf(start, { cadence }, timeZone);
    if (at > now) return at;
  }
}

/** @param start wall time of the midnight on which the period ends */
function dueOf(start: number, { cadence, days }: Rhythm, timeZone: string): DueAssessment {
  const first = days === undefined ? moved(start, cadence, -1) : start - days * DAY_MS;
  return {
    at: instantOfWall(start + ASSESSMENT_HOUR * HOUR_MS, timeZone),
    from: instantOfWall(first, timeZone),
    to: instantOfWall(start, timeZone),
  };
}

/** The midnight on which the day, week, month or quarter of a wall time begins. */
function beginOf(wall: number, cadence: Cadence): number {
  switch (cadence) {
    case 'daily':
      return Math.floor(wall / DAY_MS) * DAY_MS;
    case 'weekly':
      return A_MONDAY + Math.floor((wall - A_MONDAY) / (7 * DAY_MS)) * 7 * DAY_MS;
    case 'monthly':
      return firstOfMonth(monthOf(wall));
    case 'quarterly':
      return firstOfMonth(Math.floor(monthOf(wall) / MONTHS_OF_QUARTER) * MONTHS_OF_QUARTER);
    default:
      return cadence satisfies never;
  }
}

/** The begin of another day, week, month or quarter. */
function moved(start: number, cadence: Cadence, by: number): number {
  switch (cadence) {
    case 'daily':
      return start + by * DAY_MS;
    case 'weekly':
      return start + by * 7 * DAY_MS;
    case 'monthly':
      return firstOfMonth(monthOf(start) + by);
    case 'quarterly':
      return firstOfMonth(monthOf(start) + MONTHS_OF_QUARTER * by);
    default:
      return cadence satisfies never;
  }
}

/** Months since the year 0. */
function monthOf(wall: number): number {
  const [year = 0, month = 1] = formatInstant(wall).slice(0, 7).split('-').map(Number);
  return year * MONTHS + month - 1;
}

function firstOfMonth(month: number): number {
  const [year, rest] = [Math.floor(month / MONTHS), month % MONTHS];
  return parseInstant(`${`${year}`.padStart(4, '0')}-${`${rest + 1}`.padStart(2, '0')}-01T00:00:00Z`);
}
