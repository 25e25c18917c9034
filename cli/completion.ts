import { Argument, type Command } from 'commander';
import { type Answer, answering } from './answer.ts';
import { candidates } from './completion-candidates.ts';

/** Each asks the command that is being completed itself, so that a script never gets old. */
const SCRIPTS = {
  bash: `_mesh() {
  local found
  COMPREPLY=()
  while IFS= read -r found; do COMPREPLY+=("$found"); done < <(
    "\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null
  )
}
complete -o default -F _mesh mesh`,
  zsh: `#compdef mesh
_mesh() {
  local -a found
  found=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -- "\${(@)found:#}"
}
compdef _mesh mesh`,
  fish: `complete -c mesh -f -a '(set -l given (commandline -opc); $given[1] __complete -- $given[2..-1] (commandline -ct) 2>/dev/null)'`,
} as const;
type Shell = keyof typeof SCRIPTS;

/** `mesh completion`: a script for a shell. */
export function defineCompletion(command: Command): void {
  answering(
    command.addArgument(new Argument('[shell]', 'whose').choices(Object.keys(SCRIPTS)).default('bash')),
    (shell: Shell): Answer => ({ value: { shell, script: SCRIPTS[shell] }, text: SCRIPTS[shell].split('\n') }),
  );
}

/** Defines the command that those scripts call. */
export function defineComplete(command: Command): void {
  command.argument('[words...]').action(async (words: string[]) => {
    const found = await candidates(command.parent ?? command, words);
    if (found.length > 0) process.stdout.write(`${found.join('\n')}\n`);
  });
}
