import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import type {} from './verifies.ts';

/** Files whose tests are skipped on CI too, each with the reason. */
const MAY_SKIP: Readonly<Record<string, string>> = {
  'core/reachability/shared-cases.test.ts': 'the cases of other implementations are not in the repository',
};

/** Runs of fewer files name none as slow. */
const MANY_FILES = 30;
const SLOWEST = 15;

/**
 * Writes which requirements the passed tests showed to the folder MESH_TEST_RECORDS, for the runs of the other tiers, and prints
 * which files took longest. With CI=true a test that was skipped fails the run, so that no tier is green without having run.
 */
export default class TierReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap(({ children }) => [...children.allTests()]);
    const folder = process.env['MESH_TEST_RECORDS'];
    if (folder) writeFileSync(path.join(folder, `${process.pid}.json`), JSON.stringify(shownBy(tests)));
    if (process.env['CI'] === 'true') refuseSkipped(tests);
    if (modules.length >= MANY_FILES) printSlowest(modules);
  }
}

function printSlowest(modules: readonly TestModule[]): void {
  const timed = modules.map((module) => ({
    seconds: module.diagnostic().duration / 1_000,
    file: module.relativeModuleId,
  }));
  const slowest = timed.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
  const lines = slowest.map(({ seconds, file }) => `${seconds.toFixed(1).padStart(7)} s ${file}`);
  process.stdout.write(`The slowest of ${modules.length} files:\n${lines.join('\n')}\n`);
}

/** The tests that showed each requirement. */
function shownBy(tests: readonly TestCase[]): Readonly<Record<string, readonly string[]>> {
  const shown = tests
    .filter((test) => test.result().state === 'passed')
    .flatMap((test) => (test.meta().verifies ?? []).map((id) => ({ id, test })));
  const groups = Object.entries(Object.groupBy(shown, ({ id }) => id));
  return Object.fromEntries(
    groups.map(([id, by]) => [id, by.map(({ test }) => `${test.module.relativeModuleId}: ${test.fullName}`)]),
  );
}

function refuseSkipped(tests: readonly TestCase[]): void {
  const skipped = tests
    .filter((test) => test.result().state === 'skipped')
    .map(({ module }) => module.relativeModuleId);
  const files = [...new Set(skipped)].filter((file) => !Object.hasOwn(MAY_SKIP, file));
  if (files.length === 0) return;
  process.stderr.write(`On CI every test runs, and tests of these files were skipped:\n${files.join('\n')}\n`);
  process.exitCode = 1;
}
