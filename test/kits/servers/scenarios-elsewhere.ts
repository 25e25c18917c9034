import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keepRecordsAt } from '../http/harness.ts';
import type { Databases } from './replica-set.ts';

/** By what they are about, files of tests that begin with a control plane. */
type Scenarios = Readonly<Record<string, string>>;

interface Elsewhere {
  readonly servers: Databases;
  /** That share the records, behind a balancer that gives each request to another. */
  readonly planes?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Registers scenarios whose records are in databases; one that had them somewhere else has failed. */
export function describeScenarios(where: string, scenarios: Scenarios, { servers, planes, env }: Elsewhere): void {
  let asked = 0;
  const databaseOf = (directory: string) => {
    asked += 1;
    return servers.url(path.basename(directory));
  };
  afterAll(keepRecordsAt(databaseOf, planes, env));
  for (const [name, file] of Object.entries(scenarios)) {
    describe(`${name}, ${where}`, async () => {
      // As it is read, or as its tests run.
      let before = 0;
      beforeAll(() => {
        before = asked;
      });
      const others = asked;
      // A file registers its tests as it is read, and each place reads its own.
      await import(`${path.resolve('test/scenarios', file)}?${encodeURIComponent(where)}`);
      const asRead = asked - others;
      test('has had its records in the database', () => expect(asRead + asked - before).toBeGreaterThan(0));
    });
  }
}
