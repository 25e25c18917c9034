export const problem = {
  unexpected: 'Unexpected answer',
  unreachable: {
    title: 'Not reachable',
    detail: 'The control plane does not answer. Check the connection, then try again.',
  },
  noPage: {
    title: 'This page could not be read',
    detail:
      'The control plane does not answer, or was replaced by another version. Check the connection and try again; if that does not help, load the whole page again.',
  },
  shownAsOf: (time: string) => `What is shown is as of ${time}.`,
  request: 'Request',
  again: 'Try again',
} as const;
