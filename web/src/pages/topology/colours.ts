const TOKENS = [
  'surface',
  'surface-low',
  'surface-high',
  'text',
  'text-dim',
  'line-strong',
  'accent',
  'accent-low',
  'ok',
  'warn',
  'danger',
] as const;

export type Colours = Readonly<Record<(typeof TOKENS)[number], string>>;

/** The colours of the theme as a canvas takes them: what `light-dark()` comes to where an element stands. */
export function coloursAt(element: HTMLElement): Colours {
  const probe = document.createElement('span');
  element.append(probe);
  const colours = TOKENS.map((token) => {
    probe.style.color = `var(--${token})`;
    return [token, getComputedStyle(probe).color] as const;
  });
  probe.remove();
  return Object.fromEntries(colours) as Colours;
}

/** Tells when another theme is shown. */
export function onThemeChange(run: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const watch = new MutationObserver(run);
  watch.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  dark.addEventListener('change', run);
  return () => {
    watch.disconnect();
    dark.removeEventListener('change', run);
  };
}
