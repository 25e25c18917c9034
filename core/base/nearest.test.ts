import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

test.each([
  ['user=eve', 'user=dave', false],
  ['user=dav', 'user=dave', true],
  ['uses=dave', 'user=dave', true],
  ['env=prod', 'env=stage', false],
  ['role=web', 'role=db', false],
  ['bob-laptop', 'ana-laptop', false],
  ['anna-laptop', 'ana-laptop', true],
  ['web-1', 'web-2', true],
  ['db-1', 'ci-1', false],
  ['wbe-1', 'web-1', true],
  ['web1', 'web-1', true],
  ['web-11', 'web-1', true],
  ['postgers-main', 'postgres-main', true],
  ['warehouse-primary-db', 'workhorse-primary-db', false],
  ['eve', 'dave', false],
  ['ab', 'ac', false],
])('somebody who says %s may have meant %s: %s', (said, name, isNear) => {
  expect(nearest(said, [name])).toEqual(isNear ? [name] : []);
});
