import type { Clock } from '../../../core/base/ports.ts';

/** Real time plus what a scenario let pass. */
export function buildSettableClock(): Clock & { pass(milliseconds: number): void } {
  let passed = 0;
  return {
    now: () => Date.now() + passed,
    pass(milliseconds) {
      passed += milliseconds;
    },
  };
}
