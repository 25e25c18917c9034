export const effect = {
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
  risk: { low: 'low risk', medium: 'medium risk', high: 'high risk', critical: 'critical risk' },
} as const;
