import { z } from 'zod';
import type { Point } from '../core/history/point.ts';
import { digestOf, type SnapshotRecord, sizeOf, TRIGGER_TYPES } from '../core/history/snapshot-record.ts';
import type { NetworkState } from '../core/network/state.ts';
import { instantText, lineOfText, TEXT_LIMITS } from '../core/text.ts';
import { formatInstant } from '../core/time.ts';

export const instant = instantText('An ISO 8601 instant such as 2026-01-31T12:00:00Z.');

export const snapshotRow = z.strictObject({
  id: z.string(),
  captured_at: z.string(),
  revision: z.int(),
  trigger_type: z.enum(TRIGGER_TYPES),
  triggered_by: z.string(),
  digest: z.string().describe('Equal for equal networks'),
  size_bytes: z.int().describe('What the snapshot itself takes'),
  history_bytes: z.int().describe('What the changes since the snapshot before take, with or without it'),
});

/** A snapshot, or an instant that was asked for: then what only a snapshot has is null. */
export const momentRow = z.strictObject({
  ...snapshotRow.shape,
  id: z.string().nullable(),
  captured_at: z.string().describe('Or the instant that was asked for'),
  trigger_type: z.enum(TRIGGER_TYPES).nullable(),
  triggered_by: z.string().nullable(),
  size_bytes: z.int().nullable(),
  history_bytes: z.int().nullable(),
});

/** Text that names a moment: the id of a snapshot or an instant. */
export const momentText = lineOfText(TEXT_LIMITS.id);

export function viewOfMoment({ snapshot, instant: at }: Point, state: NetworkState): z.input<typeof momentRow> {
  if (snapshot) return viewOfSnapshot(snapshot);
  return {
    id: null,
    captured_at: formatInstant(at),
    revision: state.revision,
    trigger_type: null,
    triggered_by: null,
    digest: digestOf(state),
    size_bytes: null,
    history_bytes: null,
  };
}

export function viewOfSnapshot(record: SnapshotRecord): z.input<typeof snapshotRow> {
  const { uid, spec } = record;
  return {
    id: uid,
    captured_at: formatInstant(spec.capturedAt),
    revision: spec.revision,
    trigger_type: spec.trigger,
    triggered_by: spec.triggeredBy,
    digest: spec.digest,
    size_bytes: sizeOf(record),
    history_bytes: spec.historyBytes,
  };
}
