export const home = {
  title: 'Home',
  waiting: 'Waiting for you',
  nothingWaits: 'Nothing waits for a decision.',
  peers: 'Peers',
  online: (online: number, all: number) => `${online} of ${all} online`,
  changes: 'Last changes',
  noChanges: 'Nothing was changed yet.',
} as const;
