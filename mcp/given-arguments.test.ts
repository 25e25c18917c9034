import { expect, test } from 'vitest';
import { z } from 'zod';
import { type AnyOperation, READ, UPDATE } from '../core/base/operation.ts';
import type { Services } from '../core/workflow/services.ts';
import { givenArguments } from './given-arguments.ts';

const input = z.strictObject({
  id: z.string().min(1),
  cursor: z.string().optional(),
  note: z.string().optional(),
  from: z.iso.datetime().optional(),
  owner: z.string().nullable().optional(),
  protocol: z.enum(['TCP', 'UDP']).optional(),
  port: z.int().optional(),
  online: z.boolean().optional(),
  changes: z
    .array(
      z.union([
        z.strictObject({
          kind: z.literal('rule'),
          ports: z.array(z.int()).optional(),
          to: z.string().min(1).optional(),
        }),
        z.strictObject({ kind: z.literal('label'), labels: z.record(z.string(), z.string()) }),
      ]),
    )
    .min(1)
    .optional(),
  ingress: z.array(z.string()).optional(),
});

function given(args: Record<string, unknown>, effects = UPDATE) {
  return givenArguments({ input, effects } as unknown as AnyOperation<Services>)({ id: 'x', ...args });
}

test.each([
  [
    'null, an empty text and an empty list that a field does not take',
    { port: null, from: '', protocol: '', changes: [] },
    {},
  ],
  ['the workspace that a filler names', { workspace_id: '' }, {}],
  ['null that clears, and an empty list that means nobody', { owner: null, ingress: [] }, { owner: null, ingress: [] }],
  ['an empty text that clears a note', { note: '' }, { note: '' }],
  ['a number as text', { port: '5432' }, { port: 5432 }],
  ['a truth value as text', { online: 'true' }, { online: true }],
  ['a word in another spelling', { protocol: 'tcp' }, { protocol: 'TCP' }],
  ['one text where a list is taken', { ingress: 'web' }, { ingress: ['web'] }],
  ['a list as JSON text', { ingress: '["web"]' }, { ingress: ['web'] }],
  ['an empty list as JSON text', { ingress: '[]' }, { ingress: [] }],
  [
    'fillers within entries of several forms',
    {
      changes: [
        { kind: 'rule', ports: ['22'], to: null },
        { kind: 'label', labels: { a: '' } },
      ],
    },
    {
      changes: [
        { kind: 'rule', ports: [22] },
        { kind: 'label', labels: { a: '' } },
      ],
    },
  ],
  ['text that is no number', { port: '5432x' }, { port: '5432x' }],
  ['a field that there is not', { nope: null }, { nope: null }],
])('%s', (_what, args, expected) => {
  expect(given(args)).toEqual({ id: 'x', ...expected });
});

test('a required field is never taken for a filler', () => {
  expect(given({ id: '' })).toEqual({ id: '' });
});

test('an empty text in a read is not given, for nothing can be cleared by it', () => {
  expect(given({ cursor: '', note: '' }, READ)).toEqual({ id: 'x' });
});
