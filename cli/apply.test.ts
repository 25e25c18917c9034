import { expect, test } from 'vitest';
import { opensNothing } from './apply.ts';

test.each([
  ['WorkloadRule', true],
  [' WorkloadRule ', true],
  ['MeshPolicy', false],
  ['WorkloadRule,MeshPolicy', false],
  ['', false],
])('an empty directory may be meant by --prune %j: %s', (prune, mayBe) => {
  expect(opensNothing(prune)).toBe(mayBe);
});
