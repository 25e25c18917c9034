export const live = {
  live: 'live',
  connecting: 'connecting',
  lost: 'connection lost',
  lostSince: (time: string) => `Connection lost since ${time}. What is shown may be older than the network.`,
} as const;
