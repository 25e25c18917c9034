export const keys = {
  open: 'Keys',
  title: 'Keys',
  why: 'Not while you type into a field.',
  parts: [
    [
      'Everywhere',
      [
        ['Ctrl K', 'search, and go to a page, a peer, a policy or an agent'],
        ['?', 'these keys'],
        ['Escape', 'closes what is open'],
      ],
    ],
    [
      'Review',
      [
        ['j', 'the next that waits'],
        ['k', 'the one before'],
        ['a', 'to the button that approves; Enter presses it'],
        ['r', 'to the button that rejects'],
        ['q', 'to the button that asks back'],
        ['n', 'to the note'],
        ['Escape', 'back to the list'],
      ],
    ],
    ['Change by intent', [['Ctrl Enter', 'plans the sentence']]],
    [
      'Time',
      [
        ['← →', 'the change before, the next one'],
        ['Home End', 'the first one, now'],
      ],
    ],
  ],
} as const;
