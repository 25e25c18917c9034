import { expect, test } from 'vitest';
import { code, fenced, plain } from '../core/effect/markdown.ts';
import { renderedMarkdown } from './markdown.ts';

test('a plan in Markdown is shown without marks and escapes, its tables in columns and its files as they are', () => {
  const document = [
    `# ${plain('Takes back wf_a_b!')}`,
    '',
    'Risk: **low**',
    '',
    '| from | to |',
    '|---|---|',
    `| ${plain('a|b_c')} | ${code('db-1')} |`,
    '',
    ...fenced('diff', ['+a: "\\_*"', '```']),
    '- one',
  ].join('\n');
  expect(renderedMarkdown(document)).toEqual([
    '  Takes back wf_a_b!',
    '',
    '  Risk: low',
    '',
    '  from   to',
    '  a|b_c  db-1',
    '',
    '  +a: "\\_*"',
    '  ```',
    '  - one',
  ]);
});

test('a long line of a plan is broken between words, and each part stays indented', () => {
  const lines = renderedMarkdown(`- ${'word '.repeat(40)}\nsentence ${'word '.repeat(40)}`);
  for (const line of lines) expect(line).toMatch(/^ {2}(?:- | {2}|word|sentence).{0,76}$/);
  expect(lines.length).toBeGreaterThan(4);
});
