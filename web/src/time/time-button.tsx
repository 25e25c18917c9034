import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { route } from '../route/route.ts';
import { texts } from '../texts/texts.ts';
import { relativeTime } from '../ui/time.tsx';

/** The time that every page looks at. What it opens is read when it is first opened. */
export function TimeButton() {
  const at = route.value.query.get('at');
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const Body = useSignal<ComponentType<{ close: () => void }> | undefined>(undefined);
  const isOpen = useSignal(false);
  const onToggle = async (event: Event) => {
    isOpen.value = (event as ToggleEvent).newState === 'open';
    if (isOpen.value && !Body.value) {
      const { TimePanel } = await import('./time-panel.tsx');
      Body.value = TimePanel;
    }
  };
  const Panel = Body.value;
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label={`${texts.shell.time}: ${at ?? texts.shell.now}`}
        popovertarget={id}
      >
        {at ? relativeTime(at) : texts.shell.now} <span aria-hidden="true">▾</span>
      </button>
      <div id={id} ref={panel} popover="auto" class="time-panel" onToggle={onToggle}>
        {isOpen.value && Panel && <Panel close={() => panel.current?.hidePopover()} />}
      </div>
    </>
  );
}
