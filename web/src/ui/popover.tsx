import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

interface PopoverProps {
  /** What the button is called, where its text does not say it. */
  readonly label?: string;
  readonly text: ComponentChildren;
  readonly class?: string;
  /** What it shows, made each time it is opened. */
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button and what it opens below it: closes with Escape, by a click elsewhere, and gives the focus back. */
export function Popover({ label, text, class: style, children }: PopoverProps) {
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const isOpen = useSignal(false);
  return (
    <>
      <button type="button" class={style} aria-label={label} popovertarget={id}>
        {text} <span aria-hidden="true">▾</span>
      </button>
      <div
        id={id}
        ref={panel}
        popover="auto"
        class="popover"
        onToggle={({ newState }) => {
          isOpen.value = newState === 'open';
        }}
      >
        {isOpen.value && children(() => panel.current?.hidePopover())}
      </div>
    </>
  );
}
