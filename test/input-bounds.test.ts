import { expect, test } from 'vitest';
import { z } from 'zod';
import { JSON_LIMITS } from '../core/base/json-text.ts';
import { isBoundedList, listOf } from '../core/base/list.ts';
import { lineOfText, mapOf, TEXT_LIMITS } from '../core/base/text.ts';
import { manifestSchemas } from '../core/changes/manifest.ts';
import { ruleManifest } from '../core/identity/rule-manifest.ts';
import { MAX_PATH_REPORTS } from '../core/model/reported-paths.ts';
import { bodyLimitOf } from '../rest/read-body.ts';
import { sendHeartbeat } from '../tools/devices/send-heartbeat.ts';
import { operations } from '../tools/index.ts';
import { walkSchema } from './walk-schema.ts';

/** Texts of several lines: what people write at length, certificates, and secrets, which nothing shows. */
const SEVERAL_LINES =
  /\/(?:manifest|documents|intent|history\/\[\]|annotations\/\{\}|ca|password|oldPassword|newPassword)$/;
/** Values of any form, which one of the schemas below reads before anything is done with them, or nothing at all. */
const READ_LATER = /\/(?:metadata|status|apiVersion|documents\/\[\]|changes\/\[\]\/spec\/\{\}|spec\/\*|\*)$/;

const schemas: readonly (readonly [name: string, schema: z.core.$ZodType])[] = [
  ...operations.map(({ name, input }) => [name, input] as const),
  ...Object.entries(manifestSchemas),
  ['WorkloadRule', ruleManifest],
];

test('every text, list and map that a request carries has a bound, and a text is one line unless it is known to be more', () => {
  expect(schemas.flatMap(([name, schema]) => unbounded(schema).map((found) => `${name} ${found}`))).toEqual([]);
});

test.each<[string, z.ZodType, string]>([
  ['text', z.string(), '/field: a text without a maximum length'],
  ['text of several lines', z.string().max(5), '/field: a text of several lines'],
  ['text inside of a list', listOf(z.string(), 2).optional(), '/field/[]: a text without a maximum length'],
  ['list', z.array(lineOfText(5)).max(2).default([]), '/field: a list that is not made by listOf'],
  ['map', z.record(lineOfText(5), lineOfText(5)), '/field: a map without a maximum'],
  ['anything', z.unknown(), '/field: a value of any form'],
])('a new field that is an unbounded %s is found', (_kind, field, found) => {
  expect(unbounded(z.strictObject({ field }))).toEqual([found]);
});

test('bounded fields are no finding', () => {
  const fields = { list: listOf(lineOfText(5).min(1), 2), map: mapOf(lineOfText(5), z.int(), 3, 'numbers') };
  expect(unbounded(z.strictObject(fields))).toEqual([]);
});

test('no list or map of a request may have more entries than a body may hold', () => {
  const sizes = schemas.flatMap(([, schema]) =>
    [...walkSchema(schema)].flatMap(({ schema: inner }) => z.globalRegistry.get(inner)?.['maxProperties'] ?? []),
  );
  expect(Math.max(...sizes.map(Number))).toBeLessThanOrEqual(JSON_LIMITS.keysOfObject);
});

test('the longest heartbeat fits into the body of a device', () => {
  const report = {
    peer: 'p'.repeat(TEXT_LIMITS.id),
    transport: 'lrp-ready',
    path: 'relayed',
    reason: 'r'.repeat(32),
    since: `2026-01-05T12:00:00.${'1'.repeat(TEXT_LIMITS.instant - 21)}Z`,
  };
  const heartbeat = {
    paths: Array(MAX_PATH_REPORTS).fill(report),
    version: 'v'.repeat(TEXT_LIMITS.version),
    leaving: true,
    witnessed: { size: 2 ** 32, finding: { code: 'key_changed', message: 'm'.repeat(1_000) } },
  };
  expect(sendHeartbeat.input.parse(heartbeat)).toEqual(heartbeat);
  expect(JSON.stringify(heartbeat).length).toBeLessThanOrEqual(bodyLimitOf('device'));
});

function unbounded(schema: z.core.$ZodType): string[] {
  return [...walkSchema(schema)].flatMap(({ pointer, schema: inner }) => {
    const wrong = faultOf(inner, pointer);
    return wrong === undefined ? [] : [`${pointer}: ${wrong}`];
  });
}

function faultOf(schema: z.core.$ZodType, pointer: string): string | undefined {
  switch (schema._zod.def.type) {
    case 'string': {
      const text = schema as z.ZodString;
      if (text.maxLength === null) return 'a text without a maximum length';
      const takesLines = ['\n', 'a\nb', `${'a'.repeat(20)}\n`].some((lines) => text.safeParse(lines).success);
      return takesLines && !SEVERAL_LINES.test(pointer) ? 'a text of several lines' : undefined;
    }
    case 'array':
      return isBoundedList(schema) ? undefined : 'a list that is not made by listOf';
    case 'record':
      return z.globalRegistry.get(schema)?.['maxProperties'] === undefined ? 'a map without a maximum' : undefined;
    case 'unknown':
    case 'any':
      return READ_LATER.test(pointer) ? undefined : 'a value of any form';
    default:
      return undefined;
  }
}
