import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isTestFile } from './import-rules.ts';
import { sourceFiles } from './kits/source-files.ts';

/** The one definition of an answer that decides on access, and what a copy of it looks like. */
const DEFINITIONS: readonly { readonly file: string; readonly copy: RegExp }[] = [
  {
    file: 'core/base/loopback.ts',
    copy: /(?:function|const) isLoopback(?:Name|Address|Host|Url)?\b *[(=]|startsWith\('127\.'\)|\^\(?:?127|=== 'localhost'/,
  },
  {
    file: 'core/base/time.ts',
    copy: /function hasEnded\b|[eE]xpiresAt\) *(?:<=|>) *(?:now|at)\b|expiresAt === undefined \|\|[^;]*expiresAt\)? *> *now/,
  },
];

const files = sourceFiles().filter((file) =>
  /^(?:bin|cli|client|core|llm|mcp|net|plane|platform|rest|storage|tools|web\/src)\/.*\.tsx?$/.test(file),
);

test.each(DEFINITIONS)('only $file says what it defines', ({ file, copy }) => {
  const having = files.filter((each) => !isTestFile(each) && copy.test(readFileSync(each, 'utf8')));
  expect(having).toEqual([file]);
});

test.each([
  'function isLoopback(host: string): boolean {',
  "return host.startsWith('127.');",
  "hostname === 'localhost' || other",
  "if (protocol === 'http:' && !/^(127\\.\\d+)$/.test(hostname))",
  'return spec.expiresAt !== undefined && parseInstant(spec.expiresAt) <= now;',
  'tokens.filter(({ spec }) => spec.expiresAt === undefined || spec.expiresAt > now)',
])('a copy such as %s is found', (line) => {
  expect(DEFINITIONS.filter(({ copy }) => copy.test(line))).toHaveLength(1);
});
