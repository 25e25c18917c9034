import { expect, test } from 'vitest';
import { differenceOf } from '../../web/src/effect/difference.ts';
import { sentenceOf } from '../../web/src/pages/review/sentence.ts';

const row = (src: string, port: number) => ({ src, dst: 'db', protocol: 'TCP', from: port, to: port });
const effectOf = (opened: ReturnType<typeof row>[], closed: ReturnType<typeof row>[] = []) => ({
  opened,
  closed,
  ...{ opened_pairs: opened.length, closed_pairs: closed.length, unchanged_count: 0, omitted: 0 },
});
const kindsOf = (...from: string[]) => ({
  rows: from.map((name) => ({
    ...{ from: name, to: 'db', ports: 'TCP 5432', pairs: 1 },
    ...{ src: [name], dst: ['db'], src_total: 1, dst_total: 1 },
  })),
  ...{ omitted_rows: 0, omitted_pairs: 0 },
});
const NOTHING = kindsOf();
const written = (name: string) => ({ action: 'create' as const, resource: 'MeshPolicy', name, before: '', after: '' });

test('what differs is told row by row, in both directions', () => {
  const then = effectOf([row('web-1', 80), row('web-2', 80)], [row('old', 22)]);
  const now = effectOf([row('web-1', 80), row('web-3', 80)], []);
  expect(differenceOf(then, now)).toEqual({
    ...{ opened: [row('web-3', 80)], notOpened: [row('web-2', 80)] },
    ...{ closed: [], notClosed: [row('old', 22)] },
  });
  expect(differenceOf(now, now)).toEqual({ opened: [], closed: [], notOpened: [], notClosed: [] });
});

test('the button says in a sentence what opens, else what closes, else what is written', () => {
  const shut = effectOf([], [row('web', 5432)]);
  const says = (opens: typeof NOTHING, closes: typeof NOTHING, effect = effectOf([])) =>
    sentenceOf({ opens, closes, effect, changes: [written('web-to-db'), written('shut')] });
  expect(says(kindsOf('web'), NOTHING)).toBe('web → db on TCP 5432');
  expect(says(kindsOf('web', 'api', 'ops'), kindsOf('ci'), shut)).toBe(
    'web → db on TCP 5432 and 2 more, closing 1 pair',
  );
  expect(says(NOTHING, kindsOf('ci'), shut)).toBe('close ci → db on TCP 5432');
  expect(says(NOTHING, NOTHING)).toBe('create web-to-db and 1 more');
});
