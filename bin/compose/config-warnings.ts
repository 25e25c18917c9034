import type { Log } from '../../core/base/ports.ts';
import { type Config, environment } from './config.ts';
import { directoryProblem } from './directory-writers.ts';
import { unknownVariable } from './unknown-variable.ts';

/** A fact of the configuration that an operator should look at. */
export interface ConfigWarning {
  /** The variable it is about. */
  readonly variable?: string;
  readonly value?: string;
  readonly detail: string;
}

/** A relay token of fewer characters can be guessed. */
const RELAY_TOKEN_CHARACTERS = 16;
const OWN = Object.keys(environment.shape);

/** Returns what is allowed in a configuration but probably not meant, for every part that a process runs. */
export function configWarnings({ env, configDir, unknownVariables, notices }: Config): readonly ConfigWarning[] {
  const unknown = unknownVariables.map(
    (variable): ConfigWarning => ({ variable, detail: unknownVariable(variable, OWN) }),
  );
  const length = env.MESH_LRP_AUTH_TOKEN?.reveal().length ?? RELAY_TOKEN_CHARACTERS;
  const short: ConfigWarning = {
    variable: 'MESH_LRP_AUTH_TOKEN',
    detail: `a token of fewer than ${RELAY_TOKEN_CHARACTERS} characters can be guessed, and whoever has it can use the relay: set a longer one on every control plane and relay`,
  };
  return [
    ...unknown,
    ...(length < RELAY_TOKEN_CHARACTERS ? [short] : []),
    ...[directoryProblem(configDir)].flatMap((detail) => (detail === undefined ? [] : [{ detail }])),
    ...notices.map((detail): ConfigWarning => ({ detail })),
  ];
}

export function logWarnings(warnings: readonly ConfigWarning[], log: Log): void {
  for (const { detail, ...fields } of warnings) log.warn(fields, detail);
}

/** Returns a warning as one sentence. */
export function warningText({ variable, value, detail }: ConfigWarning): string {
  const subject = variable === undefined ? '' : `${value === undefined ? variable : `${variable} (${value})`}: `;
  return `${subject}${detail}${/[.?]$/.test(detail) ? '' : '.'}`;
}
