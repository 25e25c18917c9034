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
  check: {
    matches: 'The effect matches what is listed below. Check that this is what you intended.',
    'not checked': 'The effect was not checked against the intent. Judge it yourself.',
    differs: 'The effect is not what the intent says.',
  },
  expectationsHold: "The caller's expectations hold. They say nothing about the intent.",
  expectationsFail: "The caller's expectations do not hold.",
  would: 'What it would do',
  wouldNow: 'Computed as you type. Nothing changes before you save.',
  computing: 'Computing…',
  noChange: 'Nothing would change.',
  waitsFor: 'Saving it waits for approval:',
  warnings: 'Warnings',
  risk: { low: 'low risk', medium: 'medium risk', high: 'high risk', critical: 'critical risk' },
} as const;
