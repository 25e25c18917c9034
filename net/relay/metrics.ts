import { BYE_REASONS, type ByeReason, type DropReason, NO_DROPS } from './reasons.ts';
import type { RelaySession } from './session.ts';

/** A relay's numbers at one moment; all but the first three only rise. */
export interface RelayMetrics {
  readonly sessions: number;
  readonly ready: number;
  readonly queuedBytes: number;
  readonly opened: number;
  readonly joined: number;
  readonly forwardedFrames: number;
  readonly forwardedBytes: number;
  readonly dropped: Readonly<Record<DropReason, number>>;
  readonly ended: Readonly<Record<ByeReason, number>>;
}

export class RelayCounters {
  opened = 0;
  joined = 0;
  forwardedFrames = 0;
  forwardedBytes = 0;
  readonly dropped: Record<DropReason, number> = { ...NO_DROPS };
  readonly ended = Object.fromEntries(Object.keys(BYE_REASONS).map((reason) => [reason, 0])) as Record<
    ByeReason,
    number
  >;

  snapshot(sessions: ReadonlySet<RelaySession>): RelayMetrics {
    const { opened, joined, forwardedFrames, forwardedBytes } = this;
    let ready = 0;
    let queuedBytes = 0;
    for (const session of sessions) {
      if (session.state === 'ready') ready++;
      queuedBytes += session.outbox.queuedBytes;
    }
    return {
      sessions: sessions.size,
      ready,
      queuedBytes,
      opened,
      joined,
      forwardedFrames,
      forwardedBytes,
      dropped: { ...this.dropped },
      ended: { ...this.ended },
    };
  }
}
