import { expect, test } from 'vitest';
import { z } from 'zod';
import { listOf } from './list.ts';
import { MAX_FIELD_ERRORS, PLAINLY } from './schema-errors.ts';

/** A list whose entries count how often they are looked at. */
function counted(max: number) {
  const looks = { count: 0 };
  const entry = z.unknown().refine((value) => {
    looks.count += 1;
    return value === 'right';
  });
  return { looks, list: listOf(entry, max) };
}

test('a list that is too long is refused before any entry is looked at, whatever is checked after it', () => {
  const { looks, list } = counted(3);
  const schema = z.strictObject({ list: list.refine((all) => all.every((one) => String(one) !== '')) });
  const { error } = schema.safeParse({ list: Array(4).fill('right') }, PLAINLY);
  expect([error?.issues.map(({ message }) => message), looks.count]).toEqual([['Must have at most 3 entries.'], 0]);
});

test('checking ends with as many faults as one refusal names, in lists of lists too', () => {
  const { looks, list } = counted(1_000);
  const wrong = Array(1_000).fill(Array(1_000).fill('wrong'));
  const { error } = listOf(list, 1_000).safeParse(wrong);
  expect([error?.issues.length, looks.count]).toEqual([MAX_FIELD_ERRORS, MAX_FIELD_ERRORS]);
  expect(error?.issues.at(-1)?.path).toEqual([0, MAX_FIELD_ERRORS - 1]);
});

test('no check sees a list of which a part was not looked at', () => {
  const { list } = counted(1_000);
  let sizes: number[] = [];
  const schema = list.superRefine(({ length }) => {
    sizes = [...sizes, length];
  });
  schema.safeParse(Array(60).fill('wrong'));
  expect(schema.safeParse(Array(60).fill('right')).data).toHaveLength(60);
  expect(sizes).toEqual([60]);
});

test('every entry is answered as its schema makes it, within whatever bounds are added', () => {
  const list = listOf(z.string().transform(Number), 3).min(1);
  expect([list.parse(['1', '2']), list.safeParse([]).success, list.safeParse(7).success]).toEqual([
    [1, 2],
    false,
    false,
  ]);
});
