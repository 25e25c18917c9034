import { expect, test } from 'vitest';
import { answerText } from './answer-text.ts';

test('records become a table, and what all of them have in common stands above it', () => {
  const items = [
    { name: 'a', online: true, network: 'n', labels: { role: 'web' }, note: null },
    { name: 'b c', online: false, network: 'n', labels: {}, note: null },
  ];
  expect(answerText({ items, next_cursor: 'b c' })).toBe(
    'items (2), each network=n:\nname online labels\na true role=web\n"b c" false -\nnext_cursor: "b c"',
  );
});

test('ports are words, nothing is left out silently, and several lines stand in a fence', () => {
  const allowed = [{ protocol: 'TCP', from: 22, to: 22 }, { protocol: 'UDP', from: 1, to: 9 }, { protocol: 'ICMP' }];
  const answer = { allowed, questions: [], yaml: 'a: 1\nb: ```\n', status: { phase: 'ready', by: null } };
  expect(answerText(answer)).toBe(
    'allowed: TCP/22, UDP/1-9, ICMP\nquestions: none\nyaml:\n````\na: 1\nb: ```\n\n````\nstatus: phase=ready',
  );
});

test.each(['-', '```', '# x', 'verdict:', 'a b', 'x"y', '\u202e', 'a,b', '> x', ''])(
  'a value %j cannot be taken for a line, a fence or two values',
  (value) => {
    const lines = answerText({
      items: [
        { name: value, id: 1 },
        { name: 'b', id: 2 },
      ],
    }).split('\n');
    expect(lines[2]).toMatch(value === '' ? /^ - 1$/ : /^".*" 1$/);
  },
);
