import { invalidInput } from '../base/errors.ts';
import { formatInstant, parseInstant } from '../base/time.ts';
import type { Range } from '../history/pair/range.ts';
import { MAX_PERIOD_DAYS } from '../model/frameworks.ts';
import { workspaceById } from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';

const DAY_MS = 86_400_000;

/** The end of today, and a clock that is ahead, are taken for now. */
const AHEAD_MS = DAY_MS;

/** The assessed time that is on record, ms. */
export interface Period {
  readonly from: number;
  /** At the latest now, whatever was asked. */
  readonly to: number;
  readonly createdAt: number;
  /** Undefined where nothing of it is known. */
  readonly range: Pick<Range, 'first' | 'last' | 'since' | 'to'> | undefined;
  /** A part in which the workspace was there and what it was is no longer kept. */
  readonly lost: { readonly from: number; readonly to: number } | undefined;
  /** Sentences about what is not known. */
  readonly gaps: readonly string[];
}

/**
 * @throws MeshError `invalid_input` for a period that is reversed or has no time in it, begins ahead of the clock or ends a
 * day ahead, or is longer than a year
 */
export async function periodOf(
  services: Pick<NetworkServices, 'store' | 'clock'>,
  workspace: string,
  asked: { readonly from: string; readonly to: string },
): Promise<Period> {
  const { store, clock } = services;
  const now = clock.now();
  const [from, end] = [parseInstant(asked.from), parseInstant(asked.to)];
  requirePeriod(from, end, now);
  const to = Math.min(end, now);
  const [{ createdAt }, kept] = await Promise.all([workspaceById(services, workspace), store.keptFrom(workspace)]);
  const isLost = kept !== undefined && kept.revision > 1 && kept.at > from && createdAt < to;
  const lost = isLost ? { from: Math.max(from, createdAt), to: Math.min(kept.at, to) } : undefined;
  const gaps = [
    ...(end > to ? [`The end of the period lies ahead: it is judged until ${formatInstant(to)}.`] : []),
    ...(createdAt > from
      ? [`The workspace exists since ${formatInstant(createdAt)}: before it there was nothing.`]
      : []),
    ...(isLost ? [`What the network was before ${formatInstant(kept.at)} is no longer kept.`] : []),
  ];
  // The first records of a new workspace are written just before the workspace itself: that moment is not judged.
  const begins = Math.max(kept?.at ?? 0, createdAt);
  if (!kept || begins > to) return { from, to, createdAt, range: undefined, lost, gaps };
  const since = Math.max(from, begins);
  const revisionAt = async (at: number) => (await store.revisionAt(workspace, at))?.revision ?? kept.revision;
  // A change at the very instant of `from` belongs to the period before; one at that of the beginning to this one.
  const first = Math.max(await revisionAt(from >= begins ? from : begins - 1), kept.revision);
  const last = Math.max(await revisionAt(to), first);
  return { from, to, createdAt, range: { first, last, since, to }, lost, gaps };
}

function requirePeriod(from: number, to: number, now: number): void {
  const refuse = (field: string, detail: string) => {
    throw invalidInput([{ pointer: `/${field}`, detail }], `/${field}: ${detail}`);
  };
  if (from > now) refuse('period_start', 'This lies in the future: assess a period up to now.');
  if (to - now > AHEAD_MS) {
    refuse(
      'period_end',
      `This lies in the future: assess a period up to now, ${formatInstant(now)}, or to the end of today.`,
    );
  }
  if (to < from) refuse('period_end', 'The period ends before it begins: swap the two instants.');
  // Over no time there is nothing that could have held; a period that begins now is one, whenever it was to end.
  if (Math.min(to, now) === from) {
    refuse(
      to === from ? 'period_end' : 'period_start',
      'The period is empty: nothing is shown over no time. Assess one that begins before it ends, and before now.',
    );
  }
  if (to - from > MAX_PERIOD_DAYS * DAY_MS) {
    refuse('period_end', `The period is longer than ${MAX_PERIOD_DAYS} days: assess it in parts.`);
  }
}
