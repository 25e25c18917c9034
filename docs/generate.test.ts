import { expect, test } from 'vitest';
import { environment } from '../bin/compose/config.ts';
import { isFresh, pages } from './generate.ts';

test.each(Object.keys(pages))('the page %s says what the source says (else: npm run docs)', async (name) => {
  expect(await isFresh(name)).toBe(true);
});

test('the configuration page says what each variable takes, down to the shortest shared token', () => {
  const page = String(pages['configuration.md']?.());
  const accepted = (variable: string) => page.match(new RegExp(`\`${variable}\` \\|[^|]*\\| ([^|]*)\\|`))?.[1]?.trim();
  expect([accepted('MESH_STUN_RATE'), accepted('MESH_LISTEN'), accepted('MESH_EDITION')]).toEqual([
    '1 to 10,000,000',
    '&lt;host>:&lt;port>',
    '`pro`, `community`',
  ]);
  const bounded = Object.entries(environment.shape).filter(([, schema]) => !schema.safeParse(' ').success);
  expect(bounded.filter(([name]) => !accepted(name)).map(([name]) => name)).toEqual([]);
  expect(page).toContain('| `app.metrics.token` | at least 16 characters |');
});

test('a row of the configuration page has its four cells, and no words of a validator', () => {
  const rows = String(pages['configuration.md']?.())
    .split('\n')
    .filter((line) => line.startsWith('| `MESH_'));
  const variables = rows.filter((row) =>
    Object.keys(environment.shape).some((name) => row.startsWith(`| \`${name}\``)),
  );
  expect(variables.map((row) => row.split('|').length)).toEqual(variables.map(() => 6));
  expect(variables.filter((row) => /Invalid |Too (small|big)|expected/.test(row))).toEqual([]);
});
