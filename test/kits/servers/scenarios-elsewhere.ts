import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { keepRecordsAt } from '../http/harness.ts';
import type { Databases } from './replica-set.ts';

/** Each registers its own tests, which begin with a control plane. */
type Scenarios = Readonly<Record<string, () => Promise<unknown>>>;

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
  keepRecordsAt(databaseOf, planes, env);
  for (const [name, read] of Object.entries(scenarios)) {
    describe(`${name}, ${where}`, async () => {
      // As it is read, or as its tests run.
      let before = 0;
      beforeAll(() => {
        before = asked;
      });
      const others = asked;
      await read();
      const asRead = asked - others;
      test('has had its records in the database', () => expect(asRead + asked - before).toBeGreaterThan(0));
    });
  }
}
