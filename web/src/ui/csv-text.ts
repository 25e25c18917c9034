/** A spreadsheet takes a cell that begins so for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Returns rows as CSV (RFC 4180), none of whose cells a spreadsheet computes. */
export function csvText(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => {
    const plain = FORMULA.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
