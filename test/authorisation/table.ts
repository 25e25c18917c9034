import type { Identity, Verdict } from './standing.ts';

/** What may be asked for, and the verdict on it for each identity by its name. */
export interface Row {
  readonly what: string;
  /** The scope or kind of caller that its definition asks for. */
  readonly needs: string;
  readonly verdicts: ReadonlyMap<string, Verdict>;
}

const LEGEND = `# Who may do what

Made by \`test/authorisation.test.ts\` from what a running control plane answered; write it again with \`vitest run --project unit test/authorisation.test.ts -u\`, and read what changed. Every call is about one workspace.

- \`yes\`: the operation takes it up, and answers by what it finds
- \`own\`: a rule of the operation about who asks refuses it, whatever the scopes: a person has to be logged in, an agent makes no root agent
- \`401\`: the credential is good for nothing
- \`403\`: the credential lacks the scope, or is not of the kind that is asked for
- \`404\`: the same answer as for a workspace that does not exist
- \`no\`: refused without saying which of these it is
- \`pending\`: a person has to let the device in first
- \`password\`: the first password has to be changed first
`;

/** The whole table, in parts of one group of identities each. */
export function tableOf(rows: readonly Row[], identities: readonly Identity[]): string {
  const groups = [...new Set(identities.map(({ group }) => group))];
  const parts = groups.map((group) =>
    partOf(
      group,
      rows,
      identities.filter((one) => one.group === group),
    ),
  );
  return [LEGEND, ...parts].join('\n');
}

function partOf(group: Identity['group'], rows: readonly Row[], identities: readonly Identity[]): string {
  const known = identities.map(({ name, what }) => `- **${name}**: ${what}`);
  const columns = group === 'Nobody' ? [identities] : identities.map((identity) => [identity]);
  const names = columns.map((column) => (column.length === 1 ? (column[0]?.name ?? '') : 'each of these'));
  const cells = [
    ['', 'needs', ...names],
    ...rows.map((row) => [row.what, row.needs, ...columns.map((column) => cellOf(row, column))]),
  ];
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0))) ?? [];
  const lines = cells.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [`## ${group}`, '', ...known, '', lines[0], rule, ...lines.slice(1), ''].join('\n');
}

/** The verdict that all of a column share, else the verdict of each. */
function cellOf({ verdicts }: Row, column: readonly Identity[]): string {
  const shared = [...new Set(column.map(({ name }) => verdicts.get(name)))];
  if (shared.length === 1) return shared[0] ?? '';
  return column.map(({ name }) => `${name}: ${verdicts.get(name)}`).join(', ');
}
