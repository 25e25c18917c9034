import { z } from 'zod';
import { CREATE, DELETE, UPDATE } from '../../core/base/operation.ts';
import type { ResourceKind } from '../../core/base/record.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { deletedAnswer } from './resource-fields.ts';

/** Returns the common parts of create, replace and delete for a kind of resource that people write. */
export function resourceWrites<O extends z.ZodType>(kind: ResourceKind, output: O, path: `/api/v1/${string}`) {
  const write = { access: 'network:write', workspace: 'scoped', edition: 'community' } as const;
  const shown = { ...write, output, shows: kind } as const;
  return {
    create: { ...shown, effects: CREATE, http: { method: 'post', path, status: 201, yamlField: 'manifest' } },
    update: {
      ...shown,
      effects: UPDATE,
      addresses: kind,
      http: { method: 'put', path: `${path}/:id`, yamlField: 'manifest' },
    },
    delete: {
      ...write,
      input: z.strictObject({ ...addressedFields }),
      output: deletedAnswer,
      effects: DELETE,
      addresses: kind,
      problems: ['not_found', 'conflict'],
      http: { method: 'delete', path: `${path}/:id` },
    },
  } as const;
}
