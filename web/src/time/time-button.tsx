import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { route } from '../route/route.ts';
import { Popover } from '../ui/popover.tsx';
import { exactTime } from '../ui/time.tsx';
import { relativeTime } from './relative.ts';

/** The time that every page looks at. */
export function TimeButton() {
  const at = route.value.query.get('at');
  const label = `Time that is looked at: ${at ? exactTime(at) : 'now'}`;
  return (
    <Popover label={label} text={at ? relativeTime(at) : 'now'} class="quiet">
      {(close) => <Panel close={close} />}
    </Popover>
  );
}

/** Its script is read when it is first opened. */
function Panel({ close }: { close: () => void }) {
  const Found = useSignal<ComponentType<{ close: () => void }> | undefined>(undefined);
  useLayoutEffect(() => {
    void import('./time-panel.tsx').then(({ TimePanel }) => {
      Found.value = TimePanel;
    });
  }, []);
  const Body = Found.value;
  return Body ? <Body close={close} /> : null;
}
