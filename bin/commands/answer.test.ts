import { expect, test } from 'vitest';
import { formatAsked } from './answer.ts';
import { labelsOf } from './operation-options.ts';
import { textOf } from './table.ts';

test.each([
  [['peers'], 'table'],
  [['peers', '--json'], 'json'],
  [['peers', '-o', 'json'], 'json'],
  [['peers', '-ojson'], 'json'],
  [['--format=json', 'pears'], 'json'],
  [['peers', '-o', 'yaml'], 'yaml'],
  [['sandbox', 'start', '--', 'mesh', 'peers', '--json'], 'table'],
] as const)('the line %j asks for %s', (args, format) => {
  expect(formatAsked(args)).toBe(format);
});

test('a table has a column for each field that is asked for: labels as words, yes and no, and no control characters', () => {
  const items = [
    { name: 'web-1', status: { online: true }, labels: { role: 'web', env: 'prod' } },
    { name: 'a\u001b[31mb', status: { online: false }, labels: {} },
  ];
  const text = textOf({ items, next_cursor: 'x' }, { Name: 'name', Online: 'status.online', Labels: 'labels' });
  expect(text.split('\n').slice(1)).toEqual([
    'web-1    yes     role=web,env=prod',
    'a\uFFFD[31mb  no      -',
    'more: --cursor x',
  ]);
});

test('labels are written role=web,env=prod, and anything else is named', () => {
  expect(labelsOf('role=web, env=prod', '--labels')).toEqual({ role: 'web', env: 'prod' });
  expect(() => labelsOf('role', '--labels')).toThrow('--labels takes labels such as role=web,env=prod, not "role".');
});
