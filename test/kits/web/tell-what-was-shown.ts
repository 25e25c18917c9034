import { afterEach, beforeEach } from 'vitest';
import { everythingShown, forgetClosed } from './shown.ts';

beforeEach(forgetClosed);

/** A test that failed says what its pages showed, so that it is understood without being seen again. */
afterEach(async ({ task }) => {
  const [error] = task.result?.errors ?? [];
  if (error) error.message = [error.message, ...(await everythingShown())].join('\n\n');
});
