import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isTestFile, violationsIn, writtenRules } from './import-rules.ts';
import { sourceFiles } from './kits/source-files.ts';

const rules = writtenRules();
/** Written from ARCHITECTURE.md: a file, and a line that it must not have. */
const PLANTED: readonly (readonly [file: string, line: string])[] = [
  ['core/model/a.ts', "import type { State } from '../state/state.ts';"],
  ['core/reachability/a.ts', "export type { Effect } from '../effect/effect.ts';"],
  ['core/effect/a.ts', "export const a = () => import('../history/diff.ts');"],
  ['core/identity/a.ts', "export let a: import('../workflow/workflow-record.ts').WorkflowRecord;"],
  ['core/authority/a.ts', "import { assess } from '../intent/plan/assess.ts';"],
  ['core/intent/verify/a.ts', "import type { Planner } from '../plan/planner.ts';"],
  ['core/intent/plan/a.ts', "import { submit } from '../../workflow/submit.ts';"],
  ['core/workflow/a.ts', "import { invoke } from '../call/invoke.ts';"],
  ['core/state/a.ts', "import '../elsewhere/a.ts';"],
  ['core/intent/plan/a.ts', "import { planByGrammar } from '../../../llm/grammar/builtin.ts';"],
  ['core/base/a.ts', "import 'node:fs';"],
  ['core/base/a.ts', "import 'lodash';"],
  ['core/base/a.ts', 'export const now = () => Date.now();'],
  ['core/base/a.ts', 'export const now = () => new Date();'],
  ['core/base/a.ts', 'setTimeout(() => 1, 1);'],
  ['tools/peers/a.ts', "import '../../rest/router.ts';"],
  ['tools/peers/a.ts', "import 'express';"],
  ['llm/grammar/a.ts', "import '../../tools/index.ts';"],
  ['llm/grammar/a.ts', "import 'node:fs';"],
  ['storage/a.ts', "import type { Config } from '../bin/compose/config.ts';"],
  ['bin/compose/a.ts', "import { faultIn } from '../../storage/sqlite/integrity.ts';"],
  ['bin/compose/doctor/a.ts', "export const a = () => import('../../../storage/mongo/examine.ts');"],
  ['storage/a.ts', "import type { Database } from './sqlite/database.ts';"],
  ['storage/copy/a.ts', "import '../elsewhere/contents.ts';"],
  ['storage/mongo/a.ts', "import { openDatabase } from '../sqlite/database.ts';"],
  ['rest/a.ts', "import '../tools/index.ts';"],
  ['mcp/a.ts', "import '../rest/app.ts';"],
  ['plane/a.ts', "import '../storage/open.ts';"],
  ['platform/a.ts', "import '../net/relay/frame.ts';"],
  ['net/relay/a.ts', "import '../../core/model/graph.ts';"],
  ['net/relay/a.ts', "import 'node:net';"],
  ['net/nats/a.ts', 'export const later = () => setImmediate(() => 1);'],
  ['net/signal/a.ts', "import { randomBytes } from 'node:crypto'; export const a = randomBytes(8);"],
  ['client/paths/ice/a.ts', 'export const a = () => Math.random();'],
  ['client/paths/a.ts', "import 'node:dgram';"],
  ['client/agent/a.ts', "import '../../plane/jobs.ts';"],
  ['cli/a.ts', "import '../bin/compose/plane.ts';"],
  ['packages/policy/a.ts', "import '../../tools/index.ts';"],
  ['packages/client/a.ts', "import '../../web/src/api/client.ts';"],
  ['elsewhere/a.ts', "import '../core/base/text.ts';"],
  ['core/base/a.ts', 'export const a = () => import(`node:fs`);'],
  ['core/base/a.ts', "const name = 'node:' + 'fs'; export const a = () => import(name);"],
  ['core/base/a.ts', "export const a = process.getBuiltinModule('node:net');"],
  ['core/base/a.ts', "export const a = process['getBuiltinModule']('node:net');"],
  ['core/base/a.ts', 'export const { getBuiltinModule: a } = process;'],
  ['core/base/a.ts', "export const a = require('node:net');"],
  ['core/base/a.ts', "import fs = require('node:fs'); export default fs;"],
  ['tools/peers/a.ts', "export * as router from '../../rest/router.ts';"],
  ['tools/peers/a.ts', "export const a = new URL('../../rest/router.ts', import.meta.url);"],
  ['tools/peers/a.ts', "import '../../core/../rest/router.ts';"],
  ['tools/peers/a.ts', "import '../../%72est/router.ts';"],
  ['tools/peers/a.ts', "import '/srv/rest/router.ts';"],
  ['tools/peers/a.ts', "import 'file:///srv/rest/router.ts';"],
  ['tools/peers/a.ts', "import text from '../../rest/a.json' with { type: 'json' }; export { text };"],
  ['tools/peers/a.ts', "import '../../core/model/selector.testkit.ts';"],
  ['storage/a.ts', "import '../core/base/a.test.ts';"],
  ['bin/a.ts', "import '../test/kits/plane/kit.ts';"],
  ['llm/model/a.ts', "import 'zod-openapi';"],
  ['core/state/a.mts', "import '../workflow/apply.ts';"],
  ['core/state/a.js', "import '../workflow/apply.ts';"],
  ['core/base/a.d.ts', "import type { Store } from '../workflow/apply.ts';"],
  ['core/base/a.ts', '/// <reference path="../workflow/apply.ts" />'],
  ['core/base/a.ts', 'export const now = () => globalThis.Date.now();'],
  ['core/base/a.ts', "export const now = () => Date['now']();"],
  ['core/base/a.ts', 'export const now = () => Date?.now();'],
];

test.each(PLANTED)('%s is refused: %s', (file, line) => {
  expect(violationsIn(file, `${line}\n`, rules)).not.toEqual([]);
});

test.each([
  ['core/workflow/a.ts', "import type { Planner } from '../intent/plan/planner.ts';"],
  ['core/base/a.ts', "import { randomBytes } from 'node:crypto'; export const a = randomBytes(8);"],
  ['net/relay/listener.ts', "import 'node:net'; setTimeout(() => 1, 1);"],
  ['net/relay/a.ts', "import type { Clock } from '../../core/base/ports.ts';"],
  ['client/agent/a.ts', "import '../../net/relay/frame.ts';"],
  ['bin/compose/a.ts', "import '../../cli/root.ts';"],
  ['bin/compose/a.ts', "import '../../storage/copy/copy.ts';"],
  ['storage/open.ts', "import { sqlite } from './sqlite/sqlite.ts';"],
  ['storage/sqlite/verify/a.ts', "import type { Database } from '../database.ts';"],
])('%s passes: %s', (file, line) => {
  expect(violationsIn(file, `${line}\n`, rules)).toEqual([]);
});

test('every file of source keeps to what ARCHITECTURE.md allows', () => {
  const code = sourceFiles().filter((file) => /\.[cm]?[jt]sx?$/.test(file));
  const sources = code.filter((file) => rules.folders.has(file.split('/')[0] ?? '') && !isTestFile(file));
  const found = sources.flatMap((file) => violationsIn(file, readFileSync(file, 'utf8'), rules));
  expect(sources.length).toBeGreaterThan(500);
  expect(found).toEqual([]);
});
