import { expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from '../tools/index.ts';
import { namesIn, sectionsOf } from './kits/process/page-blocks.ts';

const PAGE = 'docs/wire.md';

function fieldsOf(name: string, side: 'input' | 'output'): string[] {
  const schema = operations.find((operation) => operation.name === name)?.[side] ?? z.never();
  return Object.keys(z.toJSONSchema(schema, { io: side }).properties ?? {}).toSorted();
}

test('the page of the wire has every field of a registration and of its answer, and no other', () => {
  expect(namesIn(PAGE, 'Enrolment', 'Field sent')).toEqual(fieldsOf('register_device', 'input'));
  expect(namesIn(PAGE, 'Enrolment', 'Field answered')).toEqual(fieldsOf('register_device', 'output'));
});

test('the page of the wire has every field of a graph; `base` is of a delta alone', () => {
  expect(namesIn(PAGE, 'Graph', 'Field')).toEqual(['base', ...fieldsOf('get_own_graph', 'output')].toSorted());
});

test('the page of the wire has every route of a device', () => {
  const text = sectionsOf(PAGE).find(({ heading }) => heading === 'Enrolment')?.text ?? '';
  const named = [...text.matchAll(/^\| `([A-Z]+ \/api\/v1\/devices\/\S+?)`/gm)].map(([, route]) => route);
  const routes = operations
    .filter(({ access }) => access === 'device')
    .map(({ http }) => `${http.method.toUpperCase()} ${http.path}`);
  expect(named.toSorted()).toEqual(routes.toSorted());
});
