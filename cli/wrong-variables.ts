import { COMMAND_VARIABLES } from '../core/base/command-variables.ts';
import { nearest } from '../core/base/nearest.ts';

/** Returns a warning for each variable that is set and none of Mesh's, and was probably meant as one that commands read. */
export function wrongVariables(environment: Readonly<Record<string, unknown>>): readonly string[] {
  const known = Object.keys(COMMAND_VARIABLES);
  const given = Object.keys(environment).filter((name) => name.startsWith('MESH_') && !known.includes(name));
  return given.flatMap((name) => {
    const [near] = nearest(name.toLowerCase(), known, 1);
    return near === undefined ? [] : [`warning: there is no variable ${name}: did you mean ${near}?`];
  });
}
