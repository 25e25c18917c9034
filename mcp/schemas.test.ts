import { expect, test } from 'vitest';
import { z } from 'zod';
import { operationsFor, READ } from '../core/base/operation.ts';
import type { Services } from '../core/workflow/services.ts';
import { describeTool } from './schemas.ts';

const rule = z.strictObject({ to: z.array(z.strictObject({ cidr: z.string() })), ports: z.array(z.int()) });

test('a tool is described by what it takes, two fields deep with its limits', () => {
  const operation = operationsFor<Services>()({
    name: 'open_ports',
    title: 'Open ports',
    description: 'Opens ports.',
    input: z.strictObject({ name: z.string().min(1).describe('Whose'), rules: z.array(rule).max(3).optional() }),
    output: z.strictObject({
      opened: z.array(z.strictObject({ port: z.int(), by: z.strictObject({ id: z.string() }) })),
    }),
    access: 'network:read',
    workspace: 'scoped',
    edition: 'community',
    effects: READ,
    problems: [],
    http: { method: 'post', path: '/api/v1/ports' },
    run: async () => ({ opened: [] }),
  });
  const { plain, withWorkspace } = describeTool(operation);
  const item = { type: 'object', properties: { to: { type: 'array', items: { type: 'object' } } } };
  expect(plain.inputSchema).toEqual({
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Whose' },
      rules: {
        type: 'array',
        maxItems: 3,
        items: {
          ...item,
          required: ['to', 'ports'],
          properties: { ...item.properties, ports: { type: 'array', items: { type: 'integer' } } },
        },
      },
    },
    required: ['name'],
  });
  expect(Object.keys(withWorkspace.inputSchema.properties ?? {})).toEqual(['name', 'rules', 'workspace_id']);
  expect(plain.outputSchema).toEqual({ type: 'object' });
});
