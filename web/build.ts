import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { build } from 'vite';
import { openApiDocument } from '../rest/openapi.ts';
import { operations } from '../tools/index.ts';

/** Builds the dashboard into `web/dist/`, with the types of the API from its own OpenAPI document. */
const WEB = import.meta.dirname;
const SCHEMA = path.join(WEB, 'src', 'api', 'schema.d.ts');

const document = JSON.parse(JSON.stringify(openApiDocument(operations, 'built')), asJson);
const types = astToString(await openapiTS(document, { alphabetize: true }));
const before = await readFile(SCHEMA, 'utf8').catch(() => undefined);
if (types !== before) {
  await writeFile(`${SCHEMA}.part`, types);
  await rename(`${SCHEMA}.part`, SCHEMA);
}
await build({ root: WEB, configFile: path.join(WEB, 'vite.config.ts'), logLevel: 'warn' });

/** The page asks for JSON alone: other forms of an answer are left out of its types. */
function asJson(key: string, value: unknown): unknown {
  const isForms = key === 'content' && typeof value === 'object' && value !== null && 'application/json' in value;
  return isForms ? { 'application/json': value['application/json'] } : value;
}
