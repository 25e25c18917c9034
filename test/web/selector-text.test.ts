import { expect, test } from 'vitest';
import { labelsOf, labelsText } from '../../web/src/pages/policies/selector-text.ts';

test('labels of a selector are written as kubectl writes them, and mean the same when they are read', () => {
  const selector = {
    matchLabels: { role: 'db', 'team/x': 'a.b' },
    matchExpressions: [
      { key: 'env', operator: 'In' as const, values: ['prod', 'stage'] },
      { key: 'tier', operator: 'NotIn' as const, values: ['old'] },
      { key: 'zone', operator: 'NotIn' as const, values: ['a', 'b'] },
      { key: 'gpu', operator: 'Exists' as const },
      { key: 'legacy', operator: 'DoesNotExist' as const },
    ],
  };
  const text = labelsText(selector);
  expect(text).toBe('role=db, team/x=a.b, env in (prod, stage), tier!=old, zone notin (a, b), gpu, !legacy');
  expect(labelsOf(text)).toEqual(selector);
  expect(labelsOf(' role==db ,env  in(prod) ')).toEqual({
    matchLabels: { role: 'db' },
    matchExpressions: [{ key: 'env', operator: 'In', values: ['prod'] }],
  });
});

test('no labels mean every peer, and what is no label is named', () => {
  expect(labelsOf(' , ')).toEqual({});
  expect(labelsText({})).toBe('');
  for (const wrong of ['role=', 'a b', 'env in ()', 'env in (a', '=db', 'role=db role=web']) {
    expect(labelsOf(`x=1, ${wrong}`)).toBe(wrong);
  }
  expect(labelsOf('role=db, role=web')).toBe('role=web');
});
