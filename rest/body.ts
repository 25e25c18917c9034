import type { IncomingMessage } from 'node:http';
import { invalidInput, MeshError } from '../core/base/errors.ts';
import { parseJson } from '../core/base/json-text.ts';
import type { HttpBinding } from '../core/base/operation.ts';
import { BODY_LIMIT, readBody } from './read-body.ts';

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;
/** A body of these is no JSON that stands for itself, and so is none of `JSON_TYPE`. */
const PATCH_TYPE = /\bpatch\+json$/;
/** The media types of a PATCH: the fields that change, or the same with maps merged into the existing ones (RFC 7396). */
export const PATCH_TYPES = ['application/json', 'application/merge-patch+json'] as const;
const YAML_TYPE = /^(?:application|text)\/(?:x-)?yaml$/;

interface Body {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly isMergePatch: boolean;
}

/**
 * The fields of a request body: a JSON object, or YAML kept as text in `yamlField`.
 *
 * @throws MeshError `unsupported_media_type`, `payload_too_large` or `invalid_input`, before anything is made of the body.
 */
export async function readFields(
  request: IncomingMessage,
  { method, yamlField }: Pick<HttpBinding, 'method' | 'yamlField'>,
  limit = BODY_LIMIT,
): Promise<Body> {
  if (!hasBody(request)) return { fields: {}, isMergePatch: false };
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const yaml = yamlField !== undefined && YAML_TYPE.test(type);
  const isMergePatch = method === 'patch' && type === PATCH_TYPES[1];
  const isJson = JSON_TYPE.test(type) && !PATCH_TYPE.test(type);
  if (!yaml && !isJson && !isMergePatch) throw notTaken(method, yamlField);
  const body = await readBody(request, limit);
  if (yaml) return { fields: { [yamlField]: body }, isMergePatch };
  return { fields: body.trim() === '' ? {} : parseFields(body), isMergePatch };
}

function notTaken(method: HttpBinding['method'], yamlField: string | undefined): MeshError {
  const more = yamlField === undefined ? [] : ['application/yaml'];
  const taken = method === 'patch' ? PATCH_TYPES : ['application/json', ...more];
  const details = method === 'patch' ? { acceptPatch: PATCH_TYPES } : {};
  return new MeshError('unsupported_media_type', `Send the body as ${taken.join(' or ')}.`, details);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** @throws MeshError unless the text is a JSON object within its bounds. */
function parseFields(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalidInput([{ pointer: '', detail: 'Not JSON.' }], 'The body is not well-formed JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidInput([{ pointer: '', detail: 'Must be an object.' }], 'The body must be a JSON object.');
  }
  return value as Readonly<Record<string, unknown>>;
}
