import { styleText } from 'node:util';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { formatAsked, yamlOf } from './answer.ts';
import { renderedMarkdown } from './markdown.ts';
import { labelsOf } from './operation-options.ts';
import { beyondColumns, table, textOf } from './table.ts';
import { visible, visibleInLine, visibleJson } from './visible.ts';

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

test('a table says how many fields it leaves out, those of an object that a column goes into one by one', () => {
  const items = [{ id: 'p_1', name: 'web-1', agent: null, status: { online: true, phase: 'ready' }, labels: {} }];
  const columns = { Name: 'name', Online: 'status.online' };
  expect(beyondColumns({ items }, columns)).toBe('2 more fields with -o json');
  expect(beyondColumns({ items }, { ...columns, Id: 'id', Phase: 'status.phase' })).toBeUndefined();
  expect(beyondColumns({ items: [] }, columns)).toBeUndefined();
});

test('what an answer says beside its items stands below the table', () => {
  const answer = { items: [{ name: 'a' }], omitted: 3, next_cursor: 'x' };
  expect(textOf(answer, { Name: 'name' }).split('\n').slice(1)).toEqual(['a', 'omitted: 3', 'more: --cursor x']);
});

test('labels are written role=web,env=prod, and anything else is named', () => {
  expect(labelsOf('role=web, env=prod', '--labels')).toEqual({ role: 'web', env: 'prod' });
  expect(() => labelsOf('role', '--labels')).toThrow('--labels takes labels such as role=web,env=prod, not "role".');
});

test('what others wrote cannot act on a terminal, in a text or in JSON, which still says the same', () => {
  const hidden = ['\u001b[2J', '\u009b2J', '\r', '\u202e', '\u2066', '\u2069', '\u0007'];
  const written = `a${hidden.join('')}b`;
  expect(visible(`${written}\n\tc`)).toBe('a\uFFFD[2J\uFFFD2J\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDb\n\tc');
  const json = visibleJson({ written }, 2);
  expect([/[^\n -~]/u.test(json), JSON.parse(json)]).toEqual([false, { written }]);
});

test('YAML has escapes for what acts on a terminal, in keys as in values, and is else as it was', async () => {
  const value = { plain: 'a', lines: 'a\n\tb', 'k\u202e': ['\u2066a\nb', '\u{e0001}', '\u001b[2J'] };
  const yaml = await yamlOf(value);
  expect(/[^\n\t -~]/u.test(yaml)).toBe(false);
  expect(load(yaml)).toEqual(value);
  expect(await yamlOf({ plain: 'a', lines: 'a\n  b' })).toBe('plain: a\nlines: |-\n  a\n    b\n');
});

test('the end of a line inside of a line of an answer ends none, and a document of others is indented', () => {
  expect(visibleInLine('a\nTo apply it: rm')).toBe('a\uFFFDTo apply it: rm');
  expect(renderedMarkdown('a\n\nTo apply it: rm\r\n')).toEqual(['  a', '', '  To apply it: rm']);
});

test('the colours of results stay, and no others', () => {
  for (const colour of ['red', 'green', 'yellow', 'bold'] as const) {
    const text = styleText(colour, 'pass', { validateStream: false });
    expect(visible(text)).toBe(text);
  }
  expect(visible('\u001B[8mhidden\u001B[41m')).toBe('\uFFFD[8mhidden\uFFFD[41m');
});

test('the titles of a table stay bold', () => {
  const text = table([{ name: 'web-1' }], { Name: 'name' });
  expect(visible(text)).toBe(text);
});
