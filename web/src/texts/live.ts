export const live = {
  live: 'live',
  connecting: 'connecting',
  lost: 'connection lost',
} as const;
