import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { debugInput } from './debug.ts';
import { EVIDENCE_PATH, evidenceInput } from './evidence.ts';
import { readyAnswer } from './readiness.ts';

const open = { security: [] };
const json = (schema: z.ZodType) => ({ 'application/json': { schema } });
const text = (type: string, description: string) => ({ [type]: { schema: z.string().describe(description) } });

export const OTHER_TAGS = ['events', 'health', 'openapi'] as const;

type ProblemResponse = (description: string) => { description: string; content: Record<string, { schema: z.ZodType }> };

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
            description:
              'Events `change`, `compliance.drift`, `reset` and `end` until the reader leaves or may not read on',
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
    [EVIDENCE_PATH]: {
      post: {
        operationId: 'export_evidence',
        summary: 'Compliance evidence',
        description: 'The evidence of an assessment as a ZIP archive that verifies without Mesh: docs/evidence.md.',
        tags: ['ai'],
        'x-required-scope': 'compliance:assess',
        'x-edition': 'pro',
        requestParams: {
          header: z.object({
            'X-Workspace-Id': z.string().optional().describe('Required where the token is good for several workspaces'),
          }),
        },
        requestBody: {
          required: true,
          content: json(evidenceInput.extend({ workspace_id: z.string().optional() }).meta({ id: 'EvidenceRequest' })),
        },
        responses: {
          '200': {
            description: 'The archive; `Content-Disposition` has its name',
            content: { 'application/zip': { schema: { type: 'string', format: 'binary' } } },
          },
          '400': refused('`invalid_input`: Invalid input'),
          '401': refused('`unauthenticated`: Not signed in'),
          '402': refused('`edition_required`: Pro edition required'),
          '403': refused('`forbidden`, `beyond_delegation`: Not permitted'),
          '404': refused('`not_found`: Not found'),
          '413': refused('`payload_too_large`: Payload too large'),
          '415': refused('`unsupported_media_type`: Unsupported media type'),
          '429': refused('`rate_limited`: Too many exports or requests'),
          '503': refused('`unavailable`: The audit log contradicts its checkpoints'),
        },
      },
    },
    ...logPaths(refused),
    '/api/v1/openapi.json': {
      get: {
        ...open,
        operationId: 'get_openapi',
        summary: 'This document',
        tags: ['openapi'],
        responses: {
          '200': { description: 'OpenAPI 3.1', content: json(z.looseObject({ openapi: z.string() })) },
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
        requestParams: {
          query: z.object({
            verbose: z.string().optional().describe('Sent with any value or none: each check is listed'),
          }),
        },
        responses: {
          '200': {
            description: 'They can; `degraded` names what does not work beside that',
            content: json(readyAnswer),
          },
          '429': refused('`rate_limited`: Too many requests'),
          '503': refused('`unavailable`: A check failed; with `verbose` the problem lists `checks` too'),
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

/** A log as c2sp.org/tlog-tiles lays it out. */
function logPaths(refused: ProblemResponse): ZodOpenApiPathsObject {
  const log = z.string().describe('Workspace, or `installation`');
  const index = z
    .string()
    .describe('As the specification writes it, such as `x001/234`, with `.p/12` where the tile is partial');
  const responses = <C>(description: string, content: C) => ({
    '200': { description, content },
    '401': refused('`unauthenticated`: Not signed in'),
    '403': refused('`forbidden`: Not permitted'),
    '404': refused('`not_found`: Not found'),
    '429': refused('`rate_limited`: Too many requests'),
  });
  const bytes = { 'application/octet-stream': { schema: { type: 'string' as const, format: 'binary' } } };
  const get = (operationId: string, summary: string, scope: string) => ({
    operationId,
    summary,
    description: 'c2sp.org/tlog-tiles: docs/audit.md.',
    tags: ['audit'],
    'x-required-scope': scope,
    'x-edition': 'community',
  });
  return {
    '/api/v1/audit/logs/{log}/checkpoint': {
      get: {
        ...get('read_log_checkpoint', 'The signed checkpoint of a log', 'authenticated'),
        requestParams: { path: z.object({ log }) },
        responses: responses('A signed note', text('text/plain', 'c2sp.org/tlog-checkpoint')),
      },
    },
    '/api/v1/audit/logs/{log}/tile/{level}/{index}': {
      get: {
        ...get('read_log_tile', 'Hashes of a log', 'authenticated'),
        requestParams: { path: z.object({ log, level: z.string(), index }) },
        responses: responses('Up to 256 hashes of 32 bytes', bytes),
      },
    },
    '/api/v1/audit/logs/{log}/tile/entries/{index}': {
      get: {
        ...get('read_log_entries', 'Entries of a log', 'audit:read'),
        requestParams: { path: z.object({ log, index }) },
        responses: responses('Up to 256 entries, each after its length in 16 bits', bytes),
      },
    },
    '/api/v1/audit/logs/{log}/entry/{seq}': {
      get: {
        ...get('read_log_entry', 'The whole text of an entry', 'audit:read'),
        requestParams: { path: z.object({ log, seq: z.string() }) },
        responses: responses('The entry as it was hashed, or as its leaf gives the digest of', json(z.object({}))),
      },
    },
  };
}
