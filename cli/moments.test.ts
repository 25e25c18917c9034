import { Command } from 'commander';
import { expect, test } from 'vitest';
import { operations } from '../tools/index.ts';
import { addCommands } from './commands.ts';
import { isMomentField, momentOf } from './moments.ts';
import { fieldsOf, typedValue } from './operation-options.ts';
import { VERBS } from './own-command.ts';

const NOW = Date.UTC(2026, 0, 31, 12);

test.each([
  ['1h', '2026-01-31T11:00:00.000Z'],
  ['2d', '2026-01-29T12:00:00.000Z'],
  ['1h30m', '2026-01-31T10:30:00.000Z'],
  ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
  ['2026-01-01T00:00:00+02:00', '2026-01-01T00:00:00+02:00'],
  ['2026-01-01', '2026-01-01'],
  ['yesterday', 'yesterday'],
  ['today', 'today'],
  ['snap_abc', 'snap_abc'],
])('the moment %s is sent as %s', (given, sent) => {
  expect(momentOf(given, '--from', NOW)).toBe(sent);
});

test.each(['2026-02-30', '2026-13-01', '2026-00-10'])('%s is said to be no day', (given) => {
  expect(() => momentOf(given, '--from', NOW)).toThrow(`--from: there is no day ${given}.`);
});

test.each(['the other day', '1 hour', '-1h', '', '0s', '999999999999d'])(
  '%j is no moment, and what is one is said',
  (given) => {
    expect(() => momentOf(given, '--from', NOW)).toThrow(/^--from takes an instant such as .*: 1h, 2d; not/);
  },
);

/** Names that say when, wherever an operation has them; a number under one of them is a size. */
const WHEN = ['at', 'from', 'to', 'since', 'until', 'snapshot_id', 'offline_since', 'key_before'];

test('every field of an operation that says when takes how long ago it was', () => {
  const fields = operations.flatMap((operation) => fieldsOf(operation));
  const moments = fields.filter(({ name, schema }) => isMomentField(name, schema));
  const isWhen = ({ name, schema }: (typeof fields)[number]) =>
    (WHEN.includes(name) && schema.type !== 'integer') || schema.format === 'date-time';
  expect(fields.filter((field) => isWhen(field) && !moments.includes(field))).toEqual([]);
  expect(new Set(moments.map(({ name }) => name)).size).toBeGreaterThan(4);
  for (const field of moments) expect(typedValue(field, '1h')).toMatch(/^\d{4}-\d\d-\d\dT/);
});

test('every option that says when says what it takes', async () => {
  const program = new Command('mesh');
  const words = [...VERBS, ...operations.map(({ name }) => name.replaceAll('_', '-'))];
  const nothing = () => Promise.reject(new Error('no command runs here'));
  await addCommands(program, { words, version: '0.1.0', loadLauncher: nothing, loadAuditStore: nothing });
  const leavesOf = (command: Command): Command[] => [command, ...command.commands.flatMap(leavesOf)];
  const options = leavesOf(program).flatMap(({ options: own }) => own);
  const when = options.filter(
    ({ long, flags }) =>
      WHEN.includes(long?.slice(2).replaceAll('-', '_') ?? '') && !/<(?:integer|host:port)>$/.test(flags),
  );
  expect(when.length).toBeGreaterThan(2);
  for (const { flags } of when) expect(flags).toMatch(/ <moment>$/);
});
