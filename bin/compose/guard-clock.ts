import { type ClockStep, GuardedClock } from '../../core/base/guarded-clock.ts';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import type { Log, Store } from '../../core/base/ports.ts';
import { RemoteClock } from '../../core/base/remote-clock.ts';
import type { ClockMarker } from '../../storage/clock-marker.ts';

/** How soon a step is noticed, and what ended by it ends, ms. */
const POLL_MS = 1_000;
/** By what the clock of the host differs from that of the database before it is told of. */
const OFF_MS = 1_000;
/** Looks between two writes of the marker; after a crash the clock may repeat at most that time. */
const MARK_EACH_LOOKS = 10;

export function systemClock(): GuardedClock {
  return new GuardedClock({ wall: Date.now, monotonic: () => performance.now() });
}

interface ClockGuardParts {
  readonly clock: GuardedClock;
  readonly mark: ClockMarker;
  readonly store: Pick<Store, 'workspaces' | 'audit'>;
  readonly log: Log;
  /** Returns the clock of the database servers. Where it is set, all control planes on the database use that clock. */
  readonly serverNow?: (() => Promise<number>) | undefined;
}

/**
 * Has a clock go on from what this plane has shown before: by its mark, and by the newest entry of each audit log. From
 * then on it is looked at each second, and what it shows is kept.
 */
export async function guardClock({ clock, mark, store, log, serverNow }: ClockGuardParts) {
  const hear = serverNow && (await followServerClock(clock, serverNow, log));
  let told: (step: ClockStep) => void = () => undefined;
  clock.onStep = (step) => {
    logStep(step, { mark, log, whose: serverNow ? 'the database' : 'this host' });
    told(step);
  };
  clock.startFrom(Math.max(mark.read() ?? 0, await newestEntry(store)));
  let isKept = true;
  const keep = () => {
    try {
      mark.keep(clock.now());
      isKept = true;
    } catch (error) {
      // Once, not each time: a full disk is told of elsewhere too.
      if (isKept) log.warn({ err: error, file: mark.file }, 'what the clock showed last could not be kept');
      isKept = false;
    }
  };
  keep();
  let looks = 0;
  const timer = setInterval(() => {
    void hear?.();
    clock.now();
    looks += 1;
    if (looks % MARK_EACH_LOOKS === 0) keep();
  }, POLL_MS);
  timer.unref();
  return {
    /** Called at each step from now on. */
    onStep(listener: (step: ClockStep) => void): void {
      told = listener;
    },
    stop(): void {
      clearInterval(timer);
      keep();
    },
  };
}

/** @returns what asks the servers again, and by that notices where their clock was set or another one leads */
async function followServerClock(
  clock: GuardedClock,
  serverNow: () => Promise<number>,
  log: Log,
): Promise<() => Promise<void>> {
  const servers = new RemoteClock(() => performance.now());
  await servers.hear(serverNow);
  clock.goBy(() => servers.now());
  let asking: Promise<void> | undefined;
  let isOff = false;
  const tell = () => {
    const wasOff = isOff;
    isOff = Math.abs(clock.hostAheadMs) >= OFF_MS;
    const seconds = Math.round(clock.hostAheadMs / 1_000);
    if (isOff && !wasOff) log.warn({ seconds }, 'the clock of this host differs from that of the database: that holds');
  };
  tell();
  return async () => {
    // While they do not answer, time passes as it does here.
    asking ??= servers
      .hear(serverNow)
      .then(tell, () => undefined)
      .finally(() => {
        asking = undefined;
      });
    await asking;
  };
}

async function newestEntry(store: ClockGuardParts['store']): Promise<number> {
  let newest = 0;
  for (const workspace of new Set([SYSTEM_WORKSPACE, ...(await store.workspaces())])) {
    const [entry] = await store.audit(workspace, { limit: 1 });
    newest = Math.max(newest, entry?.at ?? 0);
  }
  return newest;
}

function logStep(
  { direction, ms, aheadMs }: ClockStep,
  { mark: { file }, log, whose }: Pick<ClockGuardParts, 'mark' | 'log'> & { readonly whose: string },
): void {
  const fields = { seconds: Math.round(ms / 1_000), aheadSeconds: Math.round(aheadMs / 1_000) };
  if (direction === 'forward') {
    log.warn(fields, `the clock of ${whose} went forward, or this host slept: what ended meanwhile has ended`);
  } else {
    log.warn(
      { ...fields, file },
      `the clock of ${whose} went back: this control plane goes on from what it showed, at half speed, until that ` +
        'has caught up. Where the clock was wrong before, and by much: stop, remove the file, start',
    );
  }
}
