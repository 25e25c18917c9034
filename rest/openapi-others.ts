import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { debugInput } from './debug.ts';

const open = { security: [] };
const json = (schema: z.ZodType) => ({ 'application/json': { schema } });
const text = (type: string, description: string) => ({ [type]: { schema: z.string().describe(description) } });

export const OTHER_TAGS = ['events', 'health', 'openapi'] as const;

/** The routes that are no operations. `problem` is the answer of every refusal. */
export function otherPaths(problem: z.ZodType): ZodOpenApiPathsObject {
  const refused = (description: string) => ({
    description,
    content: { 'application/problem+json': { schema: problem } },
  });
  return {
    '/api/v1/events': {
      get: {
        operationId: 'watch_events',
        summary: 'Watch changes',
        description: 'Changes of one workspace as server-sent events: docs/events.md.',
        tags: ['events'],
        'x-required-scope': 'network:read',
        'x-edition': 'community',
        requestParams: {
          header: z.object({
            'X-Workspace-Id': z.string().optional().describe('Required where the token is good for several workspaces'),
            'Last-Event-ID': z.string().optional().describe('Goes on after this revision'),
          }),
        },
        responses: {
          '200': {
            description: 'Events `change`, `reset` and `end` until the reader leaves or may not read on',
            content: text('text/event-stream', 'The id of an event is its revision; its data is one JSON object'),
          },
          '400': refused('`invalid_input`: Invalid input'),
          '401': refused('`unauthenticated`: Not signed in'),
          '403': refused('`forbidden`: Not permitted'),
          '404': refused('`not_found`: Not found'),
          '429': refused('`rate_limited`: Too many streams or requests'),
        },
      },
    },
    '/api/v1/ai/debug': {
      post: {
        operationId: 'debug_connectivity',
        summary: 'AI debug',
        description: 'What changed a connection, as server-sent events: docs/history.md.',
        tags: ['ai'],
        'x-required-scope': 'snapshots:read',
        'x-edition': 'pro',
        requestParams: {
          header: z.object({
            'X-Workspace-Id': z.string().optional().describe('Required where the token is good for several workspaces'),
            'Last-Event-ID': z.string().optional().describe('Goes on after this event, within five minutes'),
          }),
        },
        requestBody: {
          required: true,
          ...{
            content: json(debugInput.extend({ workspace_id: z.string().optional() }).meta({ id: 'DebugQuestion' })),
          },
        },
        responses: {
          '200': {
            description: 'Events `step`, `tool`, `finding` and `token`; `done` or `error` is the last one',
            content: text('text/event-stream', 'The data of an event is one JSON object'),
          },
          '400': refused('`invalid_input`: Invalid input'),
          '401': refused('`unauthenticated`: Not signed in'),
          '402': refused('`edition_required`: Pro edition required'),
          '403': refused('`forbidden`: Not permitted'),
          '404': refused('`not_found`: Not found'),
          '410': refused('`expired`: No longer kept'),
          '413': refused('`payload_too_large`: Payload too large'),
          '415': refused('`unsupported_media_type`: Unsupported media type'),
          '429': refused('`rate_limited`: Too many streams or requests'),
        },
      },
    },
    '/api/v1/openapi.json': {
      get: {
        ...open,
        operationId: 'get_openapi',
        summary: 'This document',
        tags: ['openapi'],
        responses: {
          '200': { description: 'OpenAPI 3.1', content: json(z.object({})) },
          '429': refused('`rate_limited`: Too many requests'),
        },
      },
    },
    '/healthz': {
      get: {
        ...open,
        operationId: 'is_up',
        summary: 'Whether the process answers',
        tags: ['health'],
        responses: {
          '200': { description: 'It does', content: json(z.object({ status: z.literal('ok') })) },
          '429': refused('`rate_limited`: Too many requests'),
        },
      },
    },
    '/readyz': {
      get: {
        ...open,
        operationId: 'is_ready',
        summary: 'Whether requests can be served',
        tags: ['health'],
        responses: {
          '200': {
            description: 'They can; `degraded` names what does not work beside that',
            content: json(z.object({ status: z.literal('ready'), degraded: z.array(z.string()).optional() })),
          },
          '429': refused('`rate_limited`: Too many requests'),
          '503': refused('`unavailable`: Not ready yet'),
        },
      },
    },
    '/metrics': {
      get: {
        ...open,
        operationId: 'get_metrics',
        summary: 'Counters and gauges for Prometheus',
        tags: ['health'],
        responses: {
          '200': { description: 'Metrics', content: text('text/plain', 'The text format of Prometheus') },
          '403': refused('`forbidden`: Not permitted from there'),
        },
      },
    },
  };
}
