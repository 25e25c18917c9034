import { createElement } from 'preact';
import { ICONS } from './icons.ts';

export type IconName = keyof typeof ICONS;

/** A line icon of 16 px in the color of its text. A word always stands beside it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      class="icon"
      width="16"
      height="16"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {ICONS[name].map(([tag, attributes], index) => createElement(tag, { key: index, ...attributes }))}
    </svg>
  );
}
