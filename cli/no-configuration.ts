import { existsSync } from 'node:fs';
import { nodeConfigFile } from '../client/enrol/node-config.ts';
import { CliError, EXIT } from './exit.ts';
import { localServer, otherHomes } from './node-directory.ts';
import { HINTS } from './node-hints.ts';
import { quoted } from './own-command.ts';

/** @throws CliError that says where a configuration lies instead, when one does */
export function noConfiguration(directory: string): CliError {
  const elsewhere = otherHomes().find((other) => other !== directory && existsSync(nodeConfigFile(other)));
  const hint = elsewhere
    ? `There is one in ${elsewhere}: init and up must use the same directory. Give --config-dir ${quoted(elsewhere)}`
    : `Join first, with a join token in a file: ${HINTS.join({ directory, server: localServer() })}`;
  return new CliError(`${nodeConfigFile(directory)} does not exist. ${hint}`, EXIT.notFound);
}
