import { zone } from '../time/moment.ts';
import { exactTime } from './time.tsx';

/** As `31 Jan 2030, 08:00`. */
function clockText(at: string, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(new Date(at));
}

/** An instant by the clocks of the viewer, who are named; undefined where those of the zone show the same. */
export function viewerTime(at: string, timeZone: string): string | undefined {
  const text = clockText(at, zone());
  return text === clockText(at, timeZone) ? undefined : `${text} ${zone()}`;
}

interface ZonedTimeProps {
  readonly at: string;
  /** Unless it is known, the zone of the viewer. */
  readonly timeZone: string | undefined;
}

/** An instant by the clocks of a zone, which is named; and of the viewer, where those show another time. */
export function ZonedTime({ at, timeZone = zone() }: ZonedTimeProps) {
  const own = viewerTime(at, timeZone);
  return (
    <time dateTime={at} title={exactTime(at)}>
      {clockText(at, timeZone)} {timeZone}
      {own !== undefined && ` (${own})`}
    </time>
  );
}
