import { z } from 'zod';
import { formatInstant } from '../../core/base/time.ts';
import type { Point } from '../../core/history/point.ts';
import { digestOf, type SnapshotRecord, sizeOf, TRIGGER_TYPES } from '../../core/history/snapshot-record.ts';
import type { NetworkState } from '../../core/state/state.ts';

export const snapshotSchema = z.strictObject({
  id: z.string(),
  captured_at: z.string().describe('When it was taken, or the instant that was asked for'),
  revision: z.int(),
  trigger_type: z.enum(TRIGGER_TYPES),
  triggered_by: z.string(),
  digest: z.string().describe('Equal for equal networks'),
  size_bytes: z.int().describe('What the snapshot itself takes'),
  history_bytes: z
    .int()
    .nullable()
    .describe('What the changes since the snapshot before take, with or without it; null for one of 0.1.0'),
});

/** A snapshot, or an instant that was asked for: that has nothing of what only a snapshot has. */
export const momentSchema = snapshotSchema.partial({
  id: true,
  trigger_type: true,
  triggered_by: true,
  size_bytes: true,
  history_bytes: true,
});

export function momentView({ snapshot, instant: at }: Point, state: NetworkState): z.input<typeof momentSchema> {
  if (snapshot) return snapshotView(snapshot);
  return { captured_at: formatInstant(at), revision: state.revision, digest: digestOf(state) };
}

export function snapshotView(record: SnapshotRecord): z.input<typeof snapshotSchema> {
  const { uid, spec } = record;
  return {
    id: uid,
    captured_at: formatInstant(spec.capturedAt),
    revision: spec.revision,
    trigger_type: spec.trigger,
    triggered_by: spec.triggeredBy,
    digest: spec.digest,
    size_bytes: sizeOf(record),
    history_bytes: spec.historyBytes ?? null,
  };
}
