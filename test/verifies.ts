import { TestRunner } from 'vitest';
import type { RequirementId } from './requirements.ts';

declare module 'vitest' {
  interface TaskMeta {
    verifies?: readonly RequirementId[];
  }
}

/** Names the rules of the contract that the running test shows. They are shown once it has passed. */
export function verifies(...ids: readonly RequirementId[]): void {
  const { meta } = TestRunner.getCurrentTest() ?? {};
  if (!meta) throw new TypeError('verifies() is called in the body of a test.');
  meta.verifies = [...(meta.verifies ?? []), ...ids];
}
