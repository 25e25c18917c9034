import { expect, test } from 'vitest';
import { environment } from '../bin/compose/config.ts';
import { wrongVariables } from '../cli/wrong-variables.ts';

test('a variable that is misspelled is named with the one that was meant', () => {
  expect(wrongVariables({ MESH_SEVER: 'x', MESH_WORKSPACE: 'y', MESH_OWN_THING: 'z', PATH: '' })).toEqual([
    'warning: there is no variable MESH_SEVER: did you mean MESH_SERVER?',
  ]);
});

test('no variable of meshd is taken for a misspelled one', () => {
  expect(wrongVariables(environment.shape)).toEqual([]);
});
