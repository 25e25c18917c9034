import { lastDaily, nextDaily } from '../history/daily-schedule.ts';
import { listSnapshots } from '../history/snapshots.ts';
import type { NetworkServices } from '../state/services.ts';

/** The hour of the daily snapshot (docs/history.md#what-makes-a-snapshot). */
const HOUR = 2;
const PAGE = 500;
/** A control plane that was down at the hour takes it once it is up. */
const DAY_MS = 86_400_000;

export interface SnapshotDays {
  /** Days of the period at whose hour a snapshot was due, and has come by the next one. */
  readonly due: readonly number[];
  /** The days without a snapshot, ms. */
  readonly missing: readonly number[];
}

/** The daily snapshots of a period. */
export async function snapshotDays(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  span: { readonly from: number; readonly to: number },
  timeZone: string,
): Promise<SnapshotDays> {
  const due: number[] = [];
  for (let at = nextDaily(span.from, HOUR, timeZone); at <= span.to; at = nextDaily(at, HOUR, timeZone)) due.push(at);
  const taken = new Set<number>();
  for (let cursor: string | undefined; ; ) {
    const query = { from: span.from, to: span.to + DAY_MS, trigger: 'scheduled', limit: PAGE } as const;
    const { items, next } = await listSnapshots(services, workspace, { ...query, cursor });
    for (const { spec } of items) taken.add(lastDaily(spec.capturedAt, HOUR, timeZone));
    if (next === undefined) break;
    cursor = next;
  }
  return { due, missing: due.filter((at) => !taken.has(at)) };
}
