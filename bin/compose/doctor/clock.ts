import { formatInstant } from '../../../core/base/time.ts';
import { clockMarkerIn } from '../../../storage/clock-marker.ts';
import { type Check, ok, warning } from './check.ts';

/** The tolerance for a recorded clock that is ahead because the marker is written in advance. */
const TOLERATED_MS = 60_000;

export const checkClock: Check = ({ config, now }) => {
  const mark = clockMarkerIn(config.configDir).read();
  const shown = `The clock shows ${formatInstant(now)}`;
  if (mark === undefined) return [ok(`${shown}; no control plane has kept one yet.`)];
  const behind = mark - now;
  if (behind <= TOLERATED_MS) return [ok(`${shown}, after all that was recorded.`)];
  const seconds = Math.round(behind / 1_000);
  return [
    warning(
      `${shown}, ${seconds} s before what was recorded last: set it right (NTP). Until it has caught up, times run at half speed.`,
    ),
  ];
};
