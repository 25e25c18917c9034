import { COMMAND_VARIABLES } from '../../core/base/command-variables.ts';
import { nearest } from '../../core/base/nearest.ts';

/** Says what to do about a variable that nothing reads. @param own those of `meshd` */
export function unknownVariable(variable: string, own: readonly string[]): string {
  const [near] = nearest(variable.toLowerCase(), [...own, ...Object.keys(COMMAND_VARIABLES)], 1);
  const remedy = near === undefined ? 'meshd --help lists the variables there are' : `did you mean ${near}?`;
  return `there is no such variable, so it is ignored: ${remedy}`;
}
