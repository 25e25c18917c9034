import { Command, CommanderError } from 'commander';
import { CliError, EXIT } from '../exit.ts';
import { defineUp } from '../node-up.ts';

/** The reasons why a service takes no such option: it sets the value itself, or has no use for it. */
const OF_THE_SERVICE: Readonly<Record<string, string>> = {
  daemon: 'the service manager runs it in the background',
  logDir: 'a service logs to the service manager',
  configDir: 'it stands before --',
  interface: 'it stands before --',
};

/** @throws CliError where `mesh up` would not take these options, or a service has no use for one */
export async function requireUpOptions(options: readonly string[]): Promise<void> {
  const up = parser();
  try {
    await up.parseAsync(options, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const said = error.message
      .split('\n')[0]
      ?.replace(/^error: /, '')
      .replace(/\.$/, '');
    throw refused(error.code === 'commander.helpDisplayed' ? 'a service shows no help' : (said ?? ''));
  }
  for (const [name, why] of Object.entries(OF_THE_SERVICE)) {
    const flag = up.options.find((option) => option.attributeName() === name)?.long;
    if (up.getOptionValueSource(name) === 'cli') throw refused(`${flag} is not for a service: ${why}`);
  }
}

/** Returns the error for an option that the service command does not know but `mesh up` does: such options follow `--`. */
export function withUpOptions({ code, message }: CommanderError): CliError | undefined {
  const [, flag = ''] = /'(--?[\w-]+)/.exec(message) ?? [];
  const isOfUp =
    code === 'commander.unknownOption' &&
    parser().options.some((option) => option.long === flag || option.short === flag);
  if (!isOfUp) return undefined;
  return new CliError(
    `${flag} is an option of mesh up: those follow --, as in mesh service install -- ${flag}`,
    EXIT.input,
  );
}

/** Returns the parser of `mesh up`, without its action. */
function parser(): Command {
  const up = new Command('up').exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
  const nothing = () => Promise.reject(new Error('no node runs here'));
  defineUp(up, { words: [], version: '', loadLauncher: nothing, loadAuditStore: nothing });
  return up.action(() => {});
}

function refused(why: string): CliError {
  return new CliError(`Nothing was changed, for what follows --: ${why}. See mesh up --help`, EXIT.input);
}
