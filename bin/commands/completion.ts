import type { Command } from 'commander';

/** `mesh completion`: a bash script (zsh reads it after `bashcompinit`) made from the commands themselves. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a completion script: source <(mesh completion)')
    .action(() => console.log(scriptOf(program)));
}

function scriptOf(program: Command): string {
  const cases = branchesOf(program, []).map(({ path, words }) => `    "${path}") words="${words.join(' ')}" ;;`);
  return `_mesh() {
  local path="" word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases.join('\n')}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _mesh mesh`;
}

function branchesOf(command: Command, path: readonly string[]): { path: string; words: string[] }[] {
  const options = command.options.flatMap(({ long }) => (long ? [long] : []));
  const words = [...command.commands.map((child) => child.name()), ...options];
  const below = command.commands.flatMap((child) => branchesOf(child, [...path, child.name()]));
  return [{ path: path.join(' '), words }, ...below];
}
