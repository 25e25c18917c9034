import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface Decision {
  readonly file: string;
  readonly number: string;
  readonly title: string;
  /** YYYY-MM-DD. */
  readonly date: string;
  /** As the file has it: `accepted`, or by which decisions it is superseded, with links. */
  readonly status: string;
  readonly text: string;
}

const FOLDER = path.join(import.meta.dirname, 'decisions');
const HEAD = /^# (\d{4}): (.+)\n\n- Date: (\d{4}-\d\d-\d\d)\n- Status: (.+)\n\n/;

/** All decisions by their number. @throws Error for one without number, title, date and status in their places */
export function decisions(): Decision[] {
  return globSync('[0-9]*.md', { cwd: FOLDER })
    .toSorted()
    .map((file) => {
      const text = readFileSync(path.join(FOLDER, file), 'utf8');
      const [, number, title, date, status] = HEAD.exec(text) ?? [];
      if (!number || !title || !date || !status) {
        throw new Error(`docs/decisions/${file} begins with "# NNNN: title", "- Date: YYYY-MM-DD" and "- Status: …".`);
      }
      return { file, number, title, date, status, text };
    });
}

/** The page that lists them. @param note says that it is made */
export function decisionIndex(note: string): string {
  const rows = decisions().map(
    ({ file, number, title, date, status }) => `| [${number}](${file}) | ${title} | ${date} | ${status} |`,
  );
  return `# Decisions

${note}

Each record is one decision: what was decided, why, and what follows. It is never edited. Who decides otherwise writes another
record and changes the status of this one to \`superseded by\` with a link. Numbers are not used twice, and some were never used.
What was measured is in [benchmarks](../benchmarks/decisions.md).

| Number | Decision | Date | Status |
|---|---|---|---|
${rows.join('\n')}
`;
}
