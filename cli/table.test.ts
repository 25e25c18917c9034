import { afterEach, expect, test, vi } from 'vitest';
import { inLocalTime } from './local-time.ts';
import { beyondColumns, table, textOf } from './table.ts';

const COLUMNS = { Id: 'id', Status: 'status', By: 'by', At: 'at', Version: 'version', Summary: 'summary' };
const ID = 'wf_tqhscrqm73iqqu2twxlrgfif5i';
const SUMMARY = 'Opens nothing; closes TCP 5432 from laptop-ada to db-1, and TCP 5432 from outside to db-1.';
const row = { id: ID, status: 'pending', by: 'user:admin', at: '2026-01-31T12:00:00.000Z', summary: SUMMARY };

afterEach(() => void vi.useRealTimers());

test.each([40, 80, 120, 200])(
  'a table of long texts takes no more than %i columns, and cuts no id and no word',
  (width) => {
    vi.stubEnv('COLUMNS', String(width));
    const text = table([row], COLUMNS);
    vi.unstubAllEnvs();
    expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(width);
    expect(text).toContain(ID);
    const words = text.split(/\s+/);
    for (const word of SUMMARY.split(' ')) expect(words).toContain(word);
  },
);

test('a table that is too wide leaves out empty columns before any other', () => {
  const wide = { ...row, by: 'user:somebody-with-a-name', summary: 'no' };
  const [titles = ''] = table([wide], COLUMNS).split('\n');
  expect(titles.split(/ {2,}/)).toEqual(['Id', 'Status', 'By', 'At']);
  expect(beyondColumns({ items: [wide] }, COLUMNS)).toBe('1 more field with -o json');
});

test('a time in a table is told from now, and in a record with the time itself', () => {
  vi.useFakeTimers({ now: Date.parse('2026-01-31T12:03:10.000Z') });
  expect(table([row], { At: 'at' }).split('\n')[1]).toBe('3 min ago');
  expect(textOf({ at: row.at })).toBe('at  2026-01-31 12:00:00 UTC (3 min ago)');
});

test('a time inside a sentence of a table is told by the clocks of the terminal', () => {
  const rule = 'From 2026-01-31T12:00:00Z on: ALLOW no ingress to db-1; egress not touched';
  expect(table([{ rule }], { Rule: 'rule' })).toContain(inLocalTime('From 2026-01-31T12:00:00Z on:'));
});

test.each([40, 80, 120, 200])(
  'a word that has no room in %i columns, such as a token, stands whole below its row',
  (width) => {
    const token = `mesh-join-${'x'.repeat(100)}`;
    const columns = { Id: 'id', Name: 'name', Ends: 'at', Labels: 'labels', Token: 'token' };
    vi.stubEnv('COLUMNS', String(width));
    const text = table(
      [
        { id: ID, name: 'people' },
        { id: ID, name: 'ci', token },
      ],
      columns,
    );
    vi.unstubAllEnvs();
    expect(text.split('\n').filter((line) => line.includes(token))).toHaveLength(1);
  },
);

test('a limit of uses that there is not, and an end that does not come, say so', () => {
  const rule = { usageLimit: 0, expiresAt: '9999-12-31T23:59:59.999Z', usedCount: 0 };
  const columns = { 'At most': 'usageLimit', Ends: 'expiresAt', Used: 'usedCount' };
  expect(table([rule], columns).split('\n')[1]?.split(/ {2,}/)).toEqual(['no limit', 'never', '0']);
  expect(textOf(rule).split('\n')).toEqual(['usageLimit  no limit', 'expiresAt   never', 'usedCount   0']);
});

test('a record is a table of its fields by their paths, and never JSON', () => {
  const record = {
    name: 'web-1',
    labels: { role: 'web' },
    status: { online: false, seen: null },
    rules: [{ port: 1 }, { port: 2 }],
    tags: [],
    lines: 'a\nb\u001b[2J',
  };
  expect(textOf(record).split('\n')).toEqual([
    'name           web-1',
    'labels.role    web',
    'status.online  no',
    'status.seen    -',
    'rules[0].port  1',
    'rules[1].port  2',
    'tags           -',
    'lines          a',
    '               b\uFFFD[2J',
  ]);
  expect(textOf({})).toBe('value  -');
});

test('a long list where a line begins is broken behind its commas, and what follows stands back', () => {
  const peers = Array.from({ length: 9 }, (_, at) => `database-${at}`).join(', ');
  vi.stubEnv('COLUMNS', '80');
  const text = table([{ from: peers, to: 'laptop-of-somebody-else', ports: 'TCP 5432' }], {
    From: 'from',
    To: 'to',
    Ports: 'ports',
  });
  vi.unstubAllEnvs();
  const [, first = '', ...others] = text.split('\n');
  expect(Math.max(first.length, ...others.map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(first).toMatch(/^database-0, .* laptop-of-somebody-else +TCP 5432$/);
  expect(others.every((line) => line.startsWith('  database-'))).toBe(true);
});
