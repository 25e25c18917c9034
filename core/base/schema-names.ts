import { z } from 'zod';

/**
 * Names of schemas that several operations share, for documents about them (OpenAPI components):
 * `schema.register(schemaNames, { name: 'PolicySpec' })`. Others are named after the operation or object they are part of.
 */
export const schemaNames = z.registry<{ readonly name: string }>();
