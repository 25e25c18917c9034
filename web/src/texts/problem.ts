export const problem = {
  unexpected: 'Unexpected answer',
  unreachable: {
    title: 'Not reachable',
    detail: 'The control plane does not answer. Check the connection, then try again.',
  },
  request: 'Request',
  again: 'Try again',
} as const;
