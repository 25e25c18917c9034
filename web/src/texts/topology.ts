export const topology = {
  title: 'Topology',
} as const;
