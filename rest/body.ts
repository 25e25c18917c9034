import { type Request, type Response, text } from 'express';
import { invalidInput, MeshError } from '../core/base/errors.ts';

/** Bytes of one request body, after decompression. */
export const BODY_LIMIT = 1_048_576;

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;
const YAML_TYPE = /^(?:application|text)\/(?:x-)?yaml$/;
const readText = text({ type: () => true, limit: BODY_LIMIT, defaultCharset: 'utf-8' });

/**
 * The fields of a request body: a JSON object, or YAML kept as text in `yamlField`.
 *
 * @throws MeshError `unsupported_media_type`, `payload_too_large` or `invalid_input`.
 */
export async function readFields(
  request: Request,
  response: Response,
  yamlField: string | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  if (!hasBody(request)) return {};
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const yaml = yamlField !== undefined && YAML_TYPE.test(type);
  if (!yaml && !JSON_TYPE.test(type)) {
    const accepted = yamlField === undefined ? 'application/json' : 'application/json or application/yaml';
    throw new MeshError('unsupported_media_type', `Send the body as ${accepted}.`);
  }
  const body = await read(request, response);
  if (yaml) return { [yamlField]: body };
  return body.trim() === '' ? {} : parseFields(body);
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
