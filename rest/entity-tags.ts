import { z } from 'zod';
import { invalidInput } from '../core/base/errors.ts';
import type { AnyOperation } from '../core/base/operation.ts';
import { type EntityTags, entityTagOf } from '../core/state/expecting.ts';

/** Entity tags of one `If-Match`; a caller needs one. */
const MAX_TAGS = 20;
/** RFC 9110, 8.8.3. */
const TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

/**
 * The tags of an `If-Match` header (RFC 9110, 13.1.1). A weak one never matches.
 *
 * @throws MeshError `invalid_input`
 */
export function parseIfMatch(header: string | undefined): EntityTags | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return 'any';
  const tags = header.split(',', MAX_TAGS + 1).map((tag) => tag.trim());
  if (tags.length <= MAX_TAGS && tags.every((tag) => TAG.test(tag))) return tags;
  throw invalidInput([], 'If-Match is "*", or the ETag of a GET with its quotes.');
}

/** True if an operation returns one record in its state from then on: read, created or written. */
export function answersRecord({ addresses, shows, output }: AnyOperation<never>): boolean {
  if (addresses === undefined && shows === undefined) return false;
  if (!(output instanceof z.ZodObject)) return false;
  return [output, ...Object.values(output.shape)].some(
    (schema) => schema instanceof z.ZodObject && 'id' in schema.shape && 'revision' in schema.shape,
  );
}

/** The entity tag of the record that an answer shows, by itself or in a field. */
export function entityTagIn(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  return [answer, ...Object.values(answer)].map(tagOf).find((tag) => tag !== undefined);
}

function tagOf(record: unknown): string | undefined {
  if (typeof record !== 'object' || record === null || !('id' in record) || !('revision' in record)) return undefined;
  const { id, revision } = record;
  return typeof id === 'string' && typeof revision === 'number' ? entityTagOf(id, revision) : undefined;
}
