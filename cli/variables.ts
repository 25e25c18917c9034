const WIDTH = 80;

/** Names of variables, for the end of a help text. */
export function variablesHelp(lead: string, names: readonly string[]): string {
  const lines = [''];
  for (const name of names) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && `${line} ${name}`.length > WIDTH - 2) lines.push(name);
    else lines[lines.length - 1] = line === '' ? name : `${line} ${name}`;
  }
  return [``, `${lead} (docs/configuration.md):`, ...lines.map((line) => `  ${line}`)].join('\n');
}
