/** CSV as RFC 4180 has it, with lines that end as those of a terminal, and a first one of titles. A cell that a spreadsheet would run begins with an apostrophe. */
export function csvOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [titles, ...rows].map((row) => `${row.map(cellOf).join(',')}\n`).join('');
}

/** Matches text that spreadsheets take for a formula, also behind spaces and in full width. */
const FORMULA = /^\s*[=+\-@\t\r\n|%＝＋－＠]/u;

function cellOf(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
