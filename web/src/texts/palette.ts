export const palette = {
  open: 'Search or go to',
  keys: 'Ctrl K',
  label: 'A page, a name, two names, or a sentence',
  page: 'Page',
  none: 'Nothing has this name.',
  reaches: (from: string, to: string) => `Can ${from} reach ${to}?`,
  change: (text: string) => `Plan a change: ${text}`,
  ask: (text: string) => `Ask the history: ${text}`,
} as const;
