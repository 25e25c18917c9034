import { route } from '../route/route.ts';
import { Popover } from '../ui/popover.tsx';
import { readLater } from '../ui/read-later.tsx';
import { exactTime } from '../ui/time.tsx';
import { relativeTime } from './relative.ts';

const TimePanel = readLater(async () => (await import('./time-panel.tsx')).TimePanel);

/** The time that every page looks at. */
export function TimeButton() {
  const at = route.value.query.get('at');
  const label = `Time that is looked at: ${at ? exactTime(at) : 'now'}`;
  return (
    <Popover label={label} text={at ? relativeTime(at) : 'now'} class="quiet">
      {(close) => <TimePanel close={close} />}
    </Popover>
  );
}
