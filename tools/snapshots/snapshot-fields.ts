import { z } from 'zod';
import { instantText, lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { formatInstant } from '../../core/base/time.ts';
import type { Point } from '../../core/history/point.ts';
import { digestOf, type SnapshotRecord, sizeOf, TRIGGER_TYPES } from '../../core/history/snapshot-record.ts';
import type { NetworkState } from '../../core/state/state.ts';

export const instant = instantText('An ISO 8601 instant such as 2026-01-31T12:00:00Z.');

export const snapshotRow = z.strictObject({
  id: z.string(),
  captured_at: z.string().describe('When it was taken, or the instant that was asked for'),
  revision: z.int(),
  trigger_type: z.enum(TRIGGER_TYPES),
  triggered_by: z.string(),
  digest: z.string().describe('Equal for equal networks'),
  size_bytes: z.int().describe('What the snapshot itself takes'),
  history_bytes: z.int().describe('What the changes since the snapshot before take, with or without it'),
});

/** A snapshot, or an instant that was asked for: that has nothing of what only a snapshot has. */
export const momentRow = snapshotRow.partial({
  id: true,
  trigger_type: true,
  triggered_by: true,
  size_bytes: true,
  history_bytes: true,
});

/** Text that names a moment: the id of a snapshot or an instant. */
export const momentText = lineOfText(TEXT_LIMITS.id);

export function viewOfMoment({ snapshot, instant: at }: Point, state: NetworkState): z.input<typeof momentRow> {
  if (snapshot) return viewOfSnapshot(snapshot);
  return { captured_at: formatInstant(at), revision: state.revision, digest: digestOf(state) };
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
