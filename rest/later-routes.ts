import { z } from 'zod';
import { MeshError } from '../core/base/errors.ts';
import { type AnyOperation, operationsFor, READ } from '../core/base/operation.ts';
import type { Services } from '../core/workflow/services.ts';

/**
 * Pro routes of the contract whose part this version does not have. Community answers 402 to them as to every other Pro
 * route, Pro says that they are not there; OpenAPI, MCP and the command line do not offer them.
 */
const ROUTES = {
  export_evidence: { title: 'Compliance evidence', path: '/api/v1/ai/compliance/evidence' },
} as const;

const define = operationsFor<Services>();

export const laterRoutes: readonly AnyOperation<Services>[] = Object.entries(ROUTES).map(([name, { title, path }]) =>
  define({
    name,
    title,
    description: `${title} is not part of this version.`,
    // Whatever is sent: the answer is about the route, not about the request.
    input: z.looseObject({}),
    output: z.never(),
    access: 'authenticated',
    workspace: 'none',
    edition: 'pro',
    effects: READ,
    problems: ['unavailable'],
    http: { method: 'post', path },
    async run() {
      throw new MeshError('unavailable', `${title} is not part of this version of Mesh.`);
    },
  }),
);
