import type { ComponentChildren } from 'preact';
import './chip.css';

export type Tone = 'ok' | 'warn' | 'danger' | 'accent';

interface ChipProps {
  /** Color of a state, which the words of the chip say too; empty for none. */
  readonly tone?: Tone | '' | undefined;
  readonly title?: string;
  /** Stands at the end of its line. */
  readonly isPushed?: boolean;
  readonly children: ComponentChildren;
}

/** A short word or two beside a text: a state, a count, a label, a port. */
export function Chip({ tone = '', title, isPushed = false, children }: ChipProps) {
  return (
    <span class={`chip ${tone} ${isPushed ? 'push' : ''}`} title={title}>
      {children}
    </span>
  );
}
