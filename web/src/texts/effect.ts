export const effect = {
  routes: 'Routes',
  opens: 'Opens',
  closes: 'Closes',
  nothing: 'Nothing.',
  to: 'to',
  andMore: (count: number) => `and ${count} more`,
  count: (pairs: number, outside: number) =>
    `${pairs} ${pairs === 1 ? 'pair' : 'pairs'}${outside > 0 ? `, ${outside} with addresses outside` : ''}`,
  unchanged: (unchanged: number, omitted: number) =>
    `${unchanged} pairs stay as they are.${omitted > 0 ? ` ${omitted} rows are left out.` : ''}`,
  picture: 'As a picture',
  arrowsLeft: (count: number) => `${count} more are in the lines above.`,
  verification: {
    proven: 'Proven: the computed effect is what the reading says. Judge whether that is what was meant.',
    unproven: 'Not proven: nothing was said that the effect could be held against. Judge the effect yourself.',
    unmet: 'It does not do what was asked.',
  },
  would: 'What it would do',
  wouldNow: 'Computed as you type. Nothing changes before you save.',
  computing: 'Computing…',
  noChange: 'Nothing would change.',
  waitsFor: 'Saving it waits for approval:',
  warnings: 'Warnings',
  risk: { low: 'low risk', medium: 'medium risk', high: 'high risk', critical: 'critical risk' },
} as const;
