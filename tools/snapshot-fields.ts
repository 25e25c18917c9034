import { z } from 'zod';
import { type SnapshotRecord, TRIGGER_TYPES } from '../core/history/snapshot-record.ts';
import { instantText } from '../core/text.ts';
import { formatInstant } from '../core/time.ts';

export const instant = instantText('An ISO 8601 instant such as 2026-01-31T12:00:00Z.');

export const snapshotRow = z.strictObject({
  id: z.string(),
  captured_at: z.string(),
  revision: z.int(),
  trigger_type: z.enum(TRIGGER_TYPES),
  triggered_by: z.string(),
  digest: z.string(),
  size_bytes: z.int(),
});

export function viewOfSnapshot({ uid, spec }: SnapshotRecord): z.input<typeof snapshotRow> {
  return {
    id: uid,
    captured_at: formatInstant(spec.capturedAt),
    revision: spec.revision,
    trigger_type: spec.trigger,
    triggered_by: spec.triggeredBy,
    digest: spec.digest,
    size_bytes: spec.sizeBytes,
  };
}
