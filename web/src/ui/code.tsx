import type { ComponentChildren } from 'preact';

/** Text in the form that it has. What is too wide scrolls, by keys too. */
export function Code({ look = '', children }: { look?: '' | 'diff' | 'text'; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be scrolled by keys too
    <pre class={`code ${look}`.trim()} tabIndex={0}>
      {children}
    </pre>
  );
}
