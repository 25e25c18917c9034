import { type Request, type Response, text } from 'express';
import { invalidInput, MeshError } from '../core/base/errors.ts';
import type { HttpBinding } from '../core/base/operation.ts';

/** Bytes of one request body, after decompression. */
export const BODY_LIMIT = 1_048_576;

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;
/** A body of these is no JSON that stands for itself, and so is none of `JSON_TYPE`. */
const PATCH_TYPE = /\bpatch\+json$/;
/** What a PATCH takes: the fields that change, or the same with maps merged into those there are (RFC 7396). */
export const PATCH_TYPES = ['application/json', 'application/merge-patch+json'] as const;
const YAML_TYPE = /^(?:application|text)\/(?:x-)?yaml$/;
const readText = text({ type: () => true, limit: BODY_LIMIT, defaultCharset: 'utf-8' });

interface Body {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly isMergePatch: boolean;
}

/**
 * The fields of a request body: a JSON object, or YAML kept as text in `yamlField`.
 *
 * @throws MeshError `unsupported_media_type`, `payload_too_large` or `invalid_input`.
 */
export async function readFields(
  request: Request,
  response: Response,
  { method, yamlField }: Pick<HttpBinding, 'method' | 'yamlField'>,
): Promise<Body> {
  if (!hasBody(request)) return { fields: {}, isMergePatch: false };
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const yaml = yamlField !== undefined && YAML_TYPE.test(type);
  const isMergePatch = method === 'patch' && type === PATCH_TYPES[1];
  const isJson = JSON_TYPE.test(type) && !PATCH_TYPE.test(type);
  if (!yaml && !isJson && !isMergePatch) throw notTaken(method, yamlField);
  const body = await read(request, response);
  if (yaml) return { fields: { [yamlField]: body }, isMergePatch };
  return { fields: body.trim() === '' ? {} : parseFields(body), isMergePatch };
}

function notTaken(method: HttpBinding['method'], yamlField: string | undefined): MeshError {
  const more = yamlField === undefined ? [] : ['application/yaml'];
  const taken = method === 'patch' ? PATCH_TYPES : ['application/json', ...more];
  const details = method === 'patch' ? { acceptPatch: PATCH_TYPES } : {};
  return new MeshError('unsupported_media_type', `Send the body as ${taken.join(' or ')}.`, details);
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function read(request: Request, response: Response): Promise<string> {
  return new Promise((resolve, reject) => {
    readText(request, response, (error?: unknown) => {
      if (error) reject(error);
      else resolve(typeof request.body === 'string' ? request.body : '');
    });
  });
}

/** @throws MeshError unless the text is a JSON object. */
export function parseFields(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidInput([{ pointer: '', detail: 'Not JSON.' }], 'The body is not well-formed JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidInput([{ pointer: '', detail: 'Must be an object.' }], 'The body must be a JSON object.');
  }
  return value as Readonly<Record<string, unknown>>;
}
