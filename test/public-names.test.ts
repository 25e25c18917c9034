import { globSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { environment, file } from '../bin/compose/config.ts';
import { addCommands } from '../cli/commands.ts';
import { VERBS } from '../cli/own-command.ts';
import { COMMAND_VARIABLES } from '../core/base/command-variables.ts';
import { problems } from '../core/base/errors.ts';
import { KINDS, type Kind } from '../core/base/record.ts';
import { RECORD_FIELDS } from '../core/base/record-fields.ts';
import { SCOPES } from '../core/base/scope.ts';
import type { Form } from '../core/base/shape.ts';
import { fullGraphShape } from '../core/model/graph.ts';
import { EVENT_TYPES } from '../core/webhooks/event-types.ts';
import { MESHD } from '../docs/meshd-options.ts';
import { emptyMetrics, renderMetrics } from '../net/nats/metrics.ts';
import { BYE_REASONS } from '../net/relay/reasons.ts';
import { SEAL_KINDS } from '../net/seal/format.ts';
import { openApiDocument } from '../rest/openapi.ts';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';

const CHANGED =
  'A public name changed: keep the old name, or accept the change with `vitest run --project unit --update=true test/public-names.test.ts` and say it in CHANGELOG.md.';
const METRIC = /\bmesh_[a-z0-9_]*[a-z0-9]\b/g;

test('public names are those that were agreed on', async () => {
  const sections = {
    'Error codes': Object.keys(problems),
    Scopes: SCOPES,
    Events: Object.keys(EVENT_TYPES),
    Metrics: metrics(),
    'Environment variables': [...Object.keys(environment.shape), ...Object.keys(COMMAND_VARIABLES)],
    'Keys of the configuration file': fieldsOf(z.toJSONSchema(file, { io: 'input', unrepresentable: 'any' })),
    Commands: await commands(),
    'REST operations': restOperations(),
    'REST objects': restObjects(),
    'MCP tools': MCP_TOOLS,
    'Kinds of sealed messages': SEAL_KINDS,
    'Reasons of a relay to end a connection': Object.keys(BYE_REASONS),
    'Fields of a graph': graphFields(fullGraphShape.form),
    'Stored records': Object.keys(KINDS).map((kind) => line(kind, recordFields(kind as Kind))),
  };
  const text = Object.entries(sections)
    .map(([title, names]) => `# ${title}\n${[...new Set(names)].sort().join('\n')}\n`)
    .join('\n');
  await expect(text, CHANGED).toMatchFileSnapshot('public-names.txt');
});

const line = (name: string, fields: readonly string[]) => [name, ...fields].join(' ');

/** The bus renders its own names from a prefix; all others stand in the source as they are. */
function metrics(): string[] {
  const sources = globSync('{bin,core,net,plane,rest}/**/*.ts').filter((name) => !/\.(test|testkit)\.ts$/.test(name));
  const texts = [...sources.map((name) => readFileSync(name, 'utf8')), renderMetrics(emptyMetrics())];
  return texts.flatMap((text) => text.match(METRIC) ?? []).filter((name) => name !== 'mesh_nats');
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** The names of all fields of a schema, those of inner objects with a point. */
function fieldsOf(schema: unknown, prefix = ''): string[] {
  const { properties = {}, items, anyOf = [], allOf = [], oneOf = [] } = schema as Schema;
  const own = Object.entries(properties).flatMap(([name, inner]) => [
    prefix + name,
    ...fieldsOf(inner, `${prefix}${name}.`),
  ]);
  const parts = [...anyOf, ...allOf, ...oneOf, ...(items ? [items] : [])];
  return [...new Set([...own, ...parts.flatMap((part) => fieldsOf(part, prefix))])].sort();
}

async function commands(): Promise<string[]> {
  const program = new Command('mesh');
  const nothing = () => Promise.reject(new Error('no command runs here'));
  const words = [...VERBS, ...operations.map(({ name }) => name.replaceAll('_', '-'))];
  await addCommands(program, { words, version: '0.1.0', loadLauncher: nothing, loadAuditStore: nothing });
  const linesOf = (command: Command, parents: string): string[] => {
    const name = `${parents} ${command.name()}`.trim();
    const options = command.options.map(({ long, short }) => long ?? short ?? '').sort();
    return [line(name, options), ...command.commands.flatMap((inner) => linesOf(inner, name))];
  };
  return [...linesOf(program, ''), ...linesOf(MESHD, '')];
}

const { components, paths } = JSON.parse(JSON.stringify(openApiDocument(operations, '0.0.0'))) as {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, { operationId?: string; parameters?: readonly { name?: string }[] }>>;
};

function restOperations(): string[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId = '', parameters = [] }]) =>
      line(`${method.toUpperCase()} ${path} ${operationId}`.trim(), parameters.map(({ name = '' }) => name).sort()),
    ),
  );
}

function restObjects(): string[] {
  return Object.entries(components.schemas).map(([name, schema]) => line(name, fieldsOf(schema)));
}

function graphFields(form: Form, prefix = ''): string[] {
  if (form.kind === 'nullable' || form.kind === 'list') return graphFields(form.of, prefix);
  if (form.kind !== 'object') return [];
  return Object.entries({ ...form.required, ...form.optional }).flatMap(([name, inner]) => [
    prefix + name,
    ...graphFields(inner, `${prefix}${name}.`),
  ]);
}

function recordFields(kind: Kind): string[] {
  const fields = RECORD_FIELDS[kind];
  if (fields === 'nothing') return [];
  const of = (part: 'spec' | 'status') =>
    Object.keys(fields[part])
      .sort()
      .map((name) => `${part}.${name}`);
  return [...of('spec'), ...of('status')];
}
